"""How it was measured, and what to be careful about."""

from collections.abc import Mapping
from typing import Any

from clearformer.comparison.notes import notes_of
from clearformer.comparison.report.english import ENGLISH
from clearformer.comparison.report.figures import WRITTEN, count
from clearformer.comparison.report.markup import Markup, joined, tag
from clearformer.comparison.report.sizes import sizes_in
from clearformer.comparison.report.tables import Cell, name_cell, table
from clearformer.comparison.report.view import View

MACHINE = (
    "engine", "device", "workers", "system", "processor", "python", "numpy", "torch", "clearformer",
)  # fmt: skip


def method(view: View) -> Markup:
    """Budget, models, search, data and machine."""
    training = view.comparison.training
    how = view.say(
        "method_how",
        batch=training["batch"],
        context=view.comparison.task["context"],
        clip=f"{training['clip']:g}",
    )
    return joined(
        [
            tag("p", how, class_="how"),
            _models(view),
            _search(view),
            tag("div", _facts(view, "method_data", _data(view)),
                _facts(view, "method_machine", _machine(view)), class_="pair"),
            tag("p", view.say("embedded"), class_="small"),
            tag("p", view.say("sources_named"), class_="small"),
        ]
    )  # fmt: skip


def careful(view: View) -> Markup:
    """What this comparison knows of itself, and what is true of each."""
    count = len(view.comparison.training["seeds"])
    seeds = {1: ("careful_one",), 2: ("careful_seeds", "careful_two")}.get(
        count, ("careful_seeds",)
    )
    general = ("careful_budget", *seeds, "careful_scale", "careful_time")
    told = view.told(view.comparison.notes, notes_of)
    own = [tag("li", _sentence(note, language), lang=language) for note, language in told]
    return tag("ul", *own, *[tag("li", view.say(key)) for key in general], class_="careful")


def _sentence(note: str, language: str) -> str:
    """Notes of a document begin small and have no end."""
    if language == "ja":
        return f"{note.rstrip('。')}。"
    return f"{note[:1].upper()}{note[1:].rstrip('.')}."


def _models(view: View) -> Markup:
    rows = []
    for model in view.comparison.models:
        rows.append(
            [
                name_cell(view.labels[model["name"]], view.colours[model["name"]]),
                Cell(str(model["name"])),
                Cell(count(model["parameters"]), model["parameters"]),
                Cell(sizes_in(view.words, model["in_words"])),
            ]
        )
    heads = [view.say("model"), "--models", view.say("parameters"), view.say("size")]
    return table(view.say("method_models"), heads, rows)


def _search(view: View) -> Markup | None:
    search = view.comparison.search
    if not search:
        return None
    rates = sorted({trial["learning_rate"] for found in search.values()
                    for trial in found["trials"]})  # fmt: skip
    rows = []
    for name, found in search.items():
        tried = {trial["learning_rate"]: trial["loss"] for trial in found["trials"]}
        cells = [_tried(view, tried, rate, rate == found["chosen"]) for rate in rates]
        rows.append([name_cell(view.labels[name], view.colours[name]), *cells])
    share = f"{100 * view.comparison.training['share']:g} %"
    return joined(
        [
            table(view.say("method_search"), [view.say("rate"), *[f"{r:g}" for r in rates]], rows),
            tag("p", view.say("search_how", share=share), class_="small"),
        ]
    )


def _tried(view: View, tried: Mapping[float, float | None], rate: float, chosen: bool) -> Cell:
    if rate not in tried:
        return Cell(view.say("unknown"))
    loss = tried[rate]
    if loss is None:
        return Cell(view.say("diverged"))
    return Cell(WRITTEN["loss"](loss), loss, strong=chosen)


def _data(view: View) -> list[tuple[str, str]]:
    comparison = view.comparison
    seeds = ("seeds", ", ".join(map(str, comparison.training["seeds"])))
    if not comparison.text:
        settings = comparison.task["settings"].items()
        written = ", ".join(f"{name} = {value}" for name, value in settings)
        return [("task", comparison.task["name"]), ("settings", written), seeds]
    text = comparison.text
    counts = [(key, count(text[key])) for key in ("characters", "trained_on", "judged_on")]
    sources = ", ".join(map(str, text["sources"]))
    return [("sources", sources), *counts, ("fingerprint", str(text["fingerprint"])), seeds]


def _machine(view: View) -> list[tuple[str, str]]:
    machine = view.comparison.machine
    known = [(key, _plain(machine[key])) for key in MACHINE if machine.get(key) is not None]
    return [*known, ("memory_how", _memory(view, str(machine.get("memory", ""))))]


def _memory(view: View, stored: str) -> str:
    """How memory was measured, in the report's language where it is one of our sentences."""
    known = {ENGLISH[key]: view.words[key] for key in ("memory_numpy", "memory_torch")}
    return known.get(stored, stored)


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _facts(view: View, key: str, facts: list[tuple[str, str]]) -> Markup:
    rows = [[Cell(view.say(name)), Cell(value)] for name, value in facts if value]
    lines = [joined([tag("dt", name.text), tag("dd", value.text)]) for name, value in rows]
    return tag("div", tag("h3", view.say(key)), tag("dl", *lines))
