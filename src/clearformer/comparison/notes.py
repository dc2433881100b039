"""What a reader of a comparison should know of it, a sentence each."""

from collections.abc import Mapping

from clearformer.comparison.document import Comparison
from clearformer.comparison.report.english import ENGLISH
from clearformer.comparison.search import Tried

LEARNED = ("words", "bytepair")
"""Tokenizers whose vocabulary tells what stands in the text it was made from."""


def notes_of(
    comparison: Comparison,
    words: Mapping[str, str] = ENGLISH,
    labels: Mapping[str, str] | None = None,
) -> tuple[str, ...]:
    """Of its search, its tokenizers and its counting, as far as there is anything to know.

    Args:
        comparison: what was found.
        words: of a language, such as `report.english`.
        labels: what each entrant is called; its name unless given.
    """
    called, notes = labels or {}, []
    tried = {name: Tried.from_json(found) for name, found in comparison.search.items()}
    edges = [
        f"{called.get(name, name)} ({found.best:g})"
        for name, found in tried.items()
        if found.at_the_edge
    ]
    if edges:
        notes.append(words["note_edge"].format(names=words["comma"].join(edges)))
    smallest = [
        words["note_smallest_of"].format(
            name=called.get(name, name), chosen=found.chosen, best=found.best
        )
        for name, found in tried.items()
        if found.smallest_taken
    ]
    if smallest:
        notes.append(words["note_smallest"].format(names=words["comma"].join(smallest)))
    cuts = {(model["tokenizer"], model["vocabulary"]) for model in comparison.models}
    if len(cuts) > 1 and comparison.task["name"] == "text":  # a task has symbols of its own
        notes.append(words["note_tokenizers"])
        flattered = [
            called.get(model["name"], model["name"])
            for model in comparison.models
            if model["tokenizer"] in LEARNED
        ]
        if flattered:
            notes.append(words["note_vocabulary"].format(names=words["comma"].join(flattered)))
    if comparison.budget["tokens"] is not None and comparison.task["name"] == "text":
        counting = [model["name"] for model in comparison.models if model["counting"]]
        notes += [words["note_counting"].format(name=called.get(n, n)) for n in counting]
    return tuple(notes)
