"""Models × seeds under an equal budget, measured alike."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any

from clearformer.comparison import study
from clearformer.comparison.budget import Budget, budget_of
from clearformer.comparison.conducting import conduct
from clearformer.comparison.course import Course
from clearformer.comparison.document import MEASURES, Comparison
from clearformer.comparison.entrants import Reads, check_fits, default_models, entrants_of
from clearformer.comparison.entries import sized_entries
from clearformer.comparison.events import Listener
from clearformer.comparison.plan import Plan
from clearformer.comparison.reporting import require_language, require_place, write_report
from clearformer.comparison.rows_course import RowsCourse
from clearformer.comparison.text_course import TextCourse
from clearformer.engines.choose import require_possible
from clearformer.engines.execution import Wish
from clearformer.engines.threads import suitable_workers
from clearformer.errors import ConfigurationError, RunError, TextError
from clearformer.runs.material import material_of
from clearformer.runs.sources import BUILT_IN, require_text
from clearformer.runs.text_material import TextMaterial
from clearformer.tasks import task as task_named
from clearformer.tasks import tasks
from clearformer.text import KINDS as TOKENIZERS

TEXT = "text"

BUDGETS: Mapping[str, Budget] = {
    TEXT: Budget(200_000, tokens=1_000_000),
}
"""By task, what is taken unless said."""

BUDGET_OF_TASKS = Budget(100_000, tokens=1_000_000)

SHORT: Mapping[str, Mapping[str, str]] = {"recall": {"k": "distance"}}
"""Settings of tasks by the letter that stands for them in papers."""

SEEDS, BATCH, CONTEXT = 3, 12, 64


def compare(
    text: Any = None,
    *,
    models: str | Sequence[str] | None = None,
    task: str | None = None,
    settings: Mapping[str, Any] | None = None,
    budget: str | Mapping[str, Any] | Budget | None = None,
    seeds: int | None = None,
    folder: str | Path | None = None,
    resume: bool = False,
    report: str | Path | None = None,
    language: str | None = None,
    why: bool | None = None,
    tokenizer: str | None = None,
    vocab: int | None = None,
    measure: str | None = None,
    batch: int | None = None,
    context: int | None = None,
    encoding: str = "utf-8",
    engine: str | None = None,
    device: str | None = None,
    workers: int | None = None,
    listener: Listener | None = None,
) -> Comparison:
    """Trains models of several kinds under the same budget, several times each, and compares them.

    Every model has the same number of parameters within 2 %, and reads as many tokens or trains as
    many seconds. Its learning rate is searched for on the same grid, judged by a part of the text
    of its own. Everything else is equal. Each is judged on the same part, which none has learned
    from.

    Args:
        text: as of `train`; None for the documentation that Python carries.
        models: kinds with dials, such as ["ngram", "rnn", "decoder:recipe=classic"], or in one
            string with commas; the usual ones of the task unless given (`default_models`).
        task: text (unless given), or one of `tasks`.
        settings: of the task.
        budget: such as "parameters=800k,tokens=1M" or {"parameters": 800_000, "seconds": 60}.
        seeds: full trials of each model, 3 unless given.
        folder: where every trial is kept as soon as it has ended, so that the comparison can go on
            after it was stopped; nothing is kept unless given.
        resume: go on with the comparison in `folder`; what is not given is as it was.
        report: the file of HTML to write, beside `report.html` in the folder.
        language: of the report, en (unless given) or ja.
        why: whether the reasons are measured on the trained models, too; True unless given.
        tokenizer: characters (unless given), words or bytepair; an entrant may have its own.
        vocab: at most so many tokens.
        measure: what models are ranked by: bits_per_character, perplexity or accuracy.
        batch: sequences in each step, 12 unless given.
        context: tokens in a window of a text, 64 unless given.
        encoding: of the files.
        engine: numpy (unless given) or torch.
        device: of PyTorch.
        workers: threads or processes that share a batch, at most: small models take fewer.
        listener: hears what happens; `cf.ComparisonDisplay()` shows it, and without one nothing is
            printed.

    Raises:
        ConfigurationError: models that do not fit the task or the budget, and why; options that
            cannot be; different tokenizers compared by perplexity.
        TextError: the text cannot be read or is too short.
        RunError: the folder holds something else, is in use, damaged, or cannot be written to.
        NotFiniteError: a full trial diverged.
        Interrupted: on Ctrl-C; trials that have ended are kept in the folder.
    """
    heard = listener or Listener()
    place, page = _path(folder, "folder"), _path(report, "report")
    if language is not None:
        require_language(language)
    if page is not None:
        require_place(page)
    before = _before(place, resume)
    given = {
        "models": models, "task": task, "settings": settings, "budget": budget, "seeds": seeds,
        "tokenizer": tokenizer, "vocab": vocab, "measure": measure, "batch": batch,
        "context": context, "engine": engine, "device": device, "workers": workers,
    }  # fmt: skip
    plan = planned(given, before.plan if before else None)
    course, source = _course(plan, text, encoding, before.source if before else {})
    plan = plan.on(course.text().get("fingerprint"))
    if before is not None and plan.fingerprint != before.plan.fingerprint:
        raise RunError(f"the text is not the one that {place} compares on: it has changed since")
    entries = sized_entries(plan, course)  # before there is a folder: it may be refused
    wishes = _wished(before, why=why, language=language)
    begun = study.Begun(plan, source, wishes)
    kept = study.begin(place, begun) if place is not None else study.Study()
    with kept.locked():
        going_on = how_to_go_on(place, source)
        try:
            comparison = conduct(plan, course, entries, kept, heard, going_on, why=wishes.why)
        finally:
            heard.over()
        for file in (place / study.REPORT if place else None, page):
            if file is not None:
                write_report(comparison, file, wishes.language)
    return comparison


def planned(given: Mapping[str, Any], before: Plan | None = None) -> Plan:
    """The plan that is meant; what is not given is as before, or as usual.

    Raises:
        ConfigurationError: an option that cannot be, or models that do not fit the task.
    """
    asked = {name: value for name, value in given.items() if value is not None}
    task = asked.get("task", before.task if before else TEXT)
    if task != TEXT and task not in tasks():
        raise ConfigurationError(f"task must be text or one of {', '.join(tasks())}; got {task!r}")
    if "settings" in asked:
        asked["settings"] = _in_full(asked["settings"], SHORT.get(task, {}))
    usual = before or _usual(task, asked)
    if "models" in asked:
        asked["models"] = tuple(entrant.name for entrant in entrants_of(asked["models"]))
    if "budget" in asked:
        asked["budget"] = budget_of(asked["budget"], usual.budget)
    plan = replace(usual, **asked)
    _check(plan)
    return plan


def _path(given: Any, name: str) -> Path | None:
    if given is not None and not isinstance(given, str | Path):
        raise ConfigurationError(f"{name} is a path; got {given!r:.40}")
    return None if given is None else Path(given)


def _in_full(settings: Any, short: Mapping[str, str]) -> dict[str, Any]:
    """Settings by their full names, each once."""
    if not isinstance(settings, Mapping) or not all(isinstance(name, str) for name in settings):
        raise ConfigurationError(
            f'settings are a mapping such as {{"distance": 128}}; got {settings!r:.40}'
        )
    twice = [name for letter, name in short.items() if {letter, name} <= set(settings)]
    if twice:
        raise ConfigurationError(f"settings name {twice[0]} twice, once by a letter; give it once")
    return {short.get(name, name): value for name, value in settings.items()}


def _usual(task: str, asked: Mapping[str, Any]) -> Plan:
    settings = dict(asked.get("settings") or {})
    reads: Reads = "text"
    counting, measure = True, "bits_per_character"
    if task != TEXT:
        course = RowsCourse(task_named(task, **settings))
        reads, counting = course.reads, course.counts
        measure = course.described()["measure"]
    elif settings:
        raise ConfigurationError(
            f"the task text has no settings; got {', '.join(settings)}; settings go with a task "
            f"such as {tasks()[0]}"
        )
    batch = asked.get("batch", BATCH)
    return Plan(
        models=tuple(default_models(reads, counting)),
        task=task,
        settings=settings,
        budget=BUDGETS.get(task, BUDGET_OF_TASKS),
        seeds=SEEDS,
        batch=BATCH,
        context=CONTEXT,
        tokenizer=TOKENIZERS[0],
        vocab=None,
        measure=measure,
        engine="numpy",
        device=None,
        workers=suitable_workers(batch) if type(batch) is int else 1,
        fingerprint=None,
    )


def _check(plan: Plan) -> None:
    entrants = entrants_of(plan.models)
    require_possible(Wish(plan.engine, plan.device))
    known = [measure for measure in MEASURES if measure in ("bits_per_character", "perplexity")]
    known += ["accuracy"] if plan.task != TEXT else []
    if plan.measure not in known:
        raise ConfigurationError(
            f"measure must be one of {', '.join(known)} in the task {plan.task}; "
            f"got {plan.measure!r}"
        )
    if plan.tokenizer not in TOKENIZERS:
        raise ConfigurationError(
            f"tokenizer must be one of {', '.join(TOKENIZERS)}; got {plan.tokenizer!r}"
        )
    cuts = {(each.tokenizer or plan.tokenizer, each.vocab or plan.vocab) for each in entrants}
    if plan.measure == "perplexity" and len(cuts) > 1:
        raise ConfigurationError(
            "perplexity is per token and cannot be compared between tokenizers "
            f"({', '.join(sorted(str(kind) for kind, _ in cuts))}); take --measure "
            "bits_per_character, or one tokenizer for all"
        )
    if plan.task == TEXT:
        check_fits(entrants, TEXT, "text", counting=True)
    else:
        course = RowsCourse(task_named(plan.task, **plan.settings))
        check_fits(entrants, plan.task, course.reads, course.counts)


def _wished(before: study.Begun | None, **given: Any) -> study.Wishes:
    usual = before.wishes if before else study.Wishes()
    return replace(usual, **{name: value for name, value in given.items() if value is not None})


def _before(place: Path | None, resume: bool) -> study.Begun | None:
    if not resume:
        return None
    if place is None:
        raise ConfigurationError(
            "resume needs the folder of the comparison: name it with --out FOLDER"
        )
    return study.begun_in(place)


def _course(
    plan: Plan, text: Any, encoding: str, source: Mapping[str, Any]
) -> tuple[Course, dict[str, Any]]:
    """What all learn from, and where it can be found again."""
    if plan.task != TEXT:
        if text is not None:
            raise ConfigurationError(
                f"the task {plan.task} makes what is learned from by itself; leave the text out, "
                "or take --task text"
            )
        return RowsCourse(task_named(plan.task, **plan.settings)), {}
    if source and text is None:
        text, encoding = _found_again(source)
    require_text(text)
    material = material_of(text, encoding)
    if not isinstance(material, TextMaterial):
        raise TextError(
            "a comparison reads a text in memory, not a folder that prepare has made; "
            "name a text file"
        )
    course = TextCourse(material.corpus, plan.context, plan.tokenizer, plan.vocab)
    recorded = material.recorded()
    kept = {name: recorded[name] for name in ("sources", "files", "encoding")}
    return course, {**kept, "name": material.name}


def _found_again(source: Mapping[str, Any]) -> tuple[Any, str]:
    files, encoding = source.get("files"), source.get("encoding", "utf-8")
    if source.get("sources") == [BUILT_IN]:
        return None, "utf-8"
    if isinstance(files, list) and files and isinstance(encoding, str):
        return [str(name) for name in files], encoding
    raise RunError(
        "the text of this comparison was given directly, not as a file; give it again to go on"
    )


def how_to_go_on(place: Path | None, source: Mapping[str, Any]) -> str:
    """What a person does after it was stopped."""
    if place is None:
        return "nothing was kept, as no folder was named"
    if source and not source.get("files") and source.get("sources") != [BUILT_IN]:
        return f"go on with compare(text, folder={str(place)!r}, resume=True)"
    return f"go on with: clearformer compare --resume --out {quote(str(place))}"
