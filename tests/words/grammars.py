"""Texts made by rules, so that it is known which words are used alike."""

import numpy as np

CLASSES = {name: tuple(f"{name}{n}" for n in "abcd") for name in ("fruit", "tool", "bird")}
"""Words of a class stand among the same companions, and never beside each other."""

PEOPLE = {
    ("he", "ruler"): "king",
    ("she", "ruler"): "queen",
    ("he", "child"): "boy",
    ("she", "child"): "girl",
    ("he", "farmer"): "herdsman",
    ("she", "farmer"): "milkmaid",
}
"""Words with two traits; each trait brings companions of its own."""


def classes(sentences: int = 1500) -> str:
    """Sentences of a word of a class between a companion before and one after, of that class."""
    chance = np.random.default_rng(0)
    found = []
    for _ in range(sentences):
        name = chance.choice(list(CLASSES))
        before, after = chance.integers(0, 5, 2)
        found.append(f"pre{name}{before} {chance.choice(CLASSES[name])} {name}post{after}.")
    return "\n".join(found)


def people(sentences: int = 3000) -> str:
    """Sentences of a person between companions of both of its traits."""
    chance = np.random.default_rng(0)
    found = []
    for _ in range(sentences):
        first, second = list(PEOPLE)[chance.integers(len(PEOPLE))]
        one = [f"{first}{n}" for n in chance.integers(0, 5, 2)]
        two = [f"{second}{n}" for n in chance.integers(0, 5, 2)]
        found.append(" ".join([one[0], two[0], PEOPLE[first, second], one[1], two[1]]) + ".")
    return "\n".join(found)
