"""What the exercises on sampling share: slips in the last step `weights(scores)`."""

from dataclasses import replace

from clearformer.checking.exercise import Mistake
from clearformer.checking.families.softmaxing import SOFTMAXING, softmax
from clearformer.checking.words import Words

LAST = tuple(
    each if each.beside else replace(each, evidence=None)
    for each in SOFTMAXING
    if each.key in {"softmax-bracket", "softmax-no-exp", "softmax-no-max"}
)
"""Those of softmax that show with one row."""

TWICE = Mistake(
    "sample-softmax-twice",
    {"weights": lambda scores: softmax(softmax(scores))},
    Words(
        "softmax is taken of what are already probabilities",
        "すでに確率になっているものに softmax をかけています",
    ),
    Words(
        "the result is much too flat: even what had nothing gets a share.",
        "結果が平らになりすぎ、確率 0 のものにも分が回ります。",
    ),
    Words(
        "how many times does exp stand between logits and result?",
        "logits から結果までに exp は何回ありますか。",
    ),
    Words("take softmax once, at the end.", "softmax は最後に 1 回だけかけてください。"),
    "p = softmax(scores)",
)
