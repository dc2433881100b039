"""The learning rate over a run: warm-up, then down in a straight line."""

from collections.abc import Mapping, Sequence
from math import cos, pi
from typing import Any

from clearformer.checking.exercise import Case, Exercise, Mistake, Variant
from clearformer.checking.probe import Probe
from clearformer.checking.words import Words


def right(way: Any, step: Any, warmup: Any, total: Any, peak: Any) -> Any:
    """Up to peak in warmup steps, then down to 0 at step total."""
    if step >= total:
        return peak * way.ended(step, warmup, total)
    if step < warmup:
        return peak * way.rising(step, warmup, total)
    return peak * way.falling(step, warmup, total)


def rising(step: Any, warmup: Any, total: Any) -> Any:
    """Above 0 from the first step on, below 1 until warm-up is over."""
    return (step + 1) / (warmup + 1)


def falling(step: Any, warmup: Any, total: Any) -> Any:
    """1 at the end of warm-up, 0 at the end."""
    return (total - step) / (total - warmup)


def _cosine(step: Any, warmup: Any, total: Any) -> Any:
    return (1 + cos(pi * (step - warmup) / (total - warmup))) / 2


def _both_rising(step: Any, warmup: Any, total: Any) -> Any:
    """Computes what it does not need, as code without a branch does."""
    falling(step, warmup, total)
    return rising(step, warmup, total)


def _both_falling(step: Any, warmup: Any, total: Any) -> Any:
    return min(step / warmup, 1) * falling(step, warmup, total)


def probes() -> Sequence[Probe]:
    """The steps where something begins or ends; no warm-up, and nothing but warm-up."""
    places = (0, 1, 2, 4, 5, 9, 19)
    return (
        *(_of(f"step {step}", step, 5, 20, 0.3) for step in places),
        _of("step 3 of 100", 3, 10, 100, 6e-4),
        _of("step 55 of 100", 55, 10, 100, 6e-4),
        _of("after the end", 26, 5, 20, 0.3),
        _of("no warm-up", 4, 0, 10, 0.5),
        _of("nothing but warm-up", 3, 8, 8, 0.5),
        _of("exactly at the end", 20, 5, 20, 0.3),
    )


def _of(name: str, step: int, warmup: int, total: int, peak: float) -> Probe:
    return Probe(name, {"step": step, "warmup": warmup, "total": total, "peak": peak})


def _first(cases: Mapping[str, Case]) -> Words | None:
    mine = [float(cases[f"step {step}"].mine["rate"]) for step in (0, 1, 2)]
    right = [float(cases[f"step {step}"].right["rate"]) for step in (0, 1, 2)]
    shown, expected = (", ".join(f"{each:.3g}" for each in rates) for rates in (mine, right))
    return Words(
        f"with warmup = 5 and peak = 0.3, steps 0, 1, 2 have {shown}; expected {expected}.",
        f"warmup = 5, peak = 0.3 のときステップ 0, 1, 2 は {shown}、正しくは {expected} です。",
    )


def _last(cases: Mapping[str, Case]) -> Words | None:
    mine = [float(cases[f"step {step}"].mine["rate"]) for step in (5, 9, 19)]
    right = [float(cases[f"step {step}"].right["rate"]) for step in (5, 9, 19)]
    shown, expected = (", ".join(f"{each:.3g}" for each in rates) for rates in (mine, right))
    return Words(
        f"of 20 steps with peak = 0.3, steps 5, 9, 19 have {shown}; expected {expected}.",
        f"全 20 ステップ、peak = 0.3 でステップ 5, 9, 19 は {shown}、正しくは {expected} です。",
    )


BEGIN = Words(
    "print steps 0 to 3: does each move the weights, and more than the one before?",
    "ステップ 0〜3 の学習率は、どれも 0 より大きく、前より大きいですか。",
)
COUNT = Words(
    "step counts from 0: use (step + 1) / (warmup + 1).",
    "step は 0 から数えるので (step + 1) / (warmup + 1) を使ってください。",
)
RISE = "peak * (step + 1) / (warmup + 1)"
END = Words(
    "what does your code give at step warmup, halfway, and at the last step?",
    "warmup の時点、中間、最後のステップでいくつになりますか。",
)
DOWN = Words(
    "from warmup on: the share of steps left, (total − step) / (total − warmup).",
    "warmup 以降は残りの割合 (total − step) / (total − warmup) です。",
)
FALL = "peak * (total - step) / (total - warmup)"
SETTLE = Words(
    "small steps at the end let the weights settle.", "最後に歩幅を小さくすると重みが落ち着きます。"
)
GENTLE = Words(
    "large steps at the very beginning can throw the weights far off.",
    "最初から歩幅が大きいと、重みが大きく外れることがあります。",
)


def _rising(key: str, step: Any, found: Words, why: Words = GENTLE) -> Mistake:
    return Mistake(key, {"rising": step}, found, why, BEGIN, COUNT, RISE, _first)


def _falling(key: str, step: Any, found: Words) -> Mistake:
    return Mistake(key, {"falling": step}, found, SETTLE, END, DOWN, FALL, _last)


def _division(change: Mapping[str, Any], found: Words) -> Mistake:
    return Mistake(
        "lr-div0",
        change,
        found,
        Words(
            "the run stops with an error, although nothing of it was needed.",
            "必要のない計算のせいで学習が止まります。",
        ),
        Words(
            "what is divided by what when warmup = total, and when warmup = 0?",
            "warmup = total や warmup = 0 のとき、何を何で割りますか。",
        ),
        Words(
            "compute each part only for the steps it is for.",
            "それぞれの式は、使うステップでだけ計算してください。",
        ),
        "if step < warmup: return peak * (step + 1) / (warmup + 1)",
    )


EXERCISE = Exercise(
    name="learning_rate",
    title=Words("Warm-up and decay", "ウォームアップと減衰"),
    task=Words(
        "The learning rate of each step of a run, counted from 0:\n"
        "step < warmup: peak (step + 1) / (warmup + 1), so that the first step already moves;\n"
        "then in a straight line down to 0: peak (total − step) / (total − warmup);\n"
        "step ≥ total: 0. warmup may be 0, or as large as total.\n"
        "step, warmup, total: whole numbers. peak: a number. Returns: one number.",
        "0 から数えた各ステップの学習率です。\n"
        "step < warmup: peak (step + 1) / (warmup + 1) で、最初のステップから動きます。\n"
        "その後は直線で 0 まで: peak (total − step) / (total − warmup)。\n"
        "step ≥ total: 0。warmup は 0 でも、total と同じでも構いません。\n"
        "step, warmup, total: 整数。peak: 数。返り値: 1 つの数。",
    ),
    right=right,
    steps={"rising": rising, "falling": falling, "ended": lambda step, warmup, total: 0.0},
    probes=probes,
    mistakes=(
        *(
            _rising(
                "lr-zero-step0",
                step,
                Words("the first step has rate 0", "最初のステップの学習率が 0 です"),
                Words("a whole step is computed and does nothing.", "計算したのに何も動きません。"),
            )
            for step in (
                lambda step, warmup, total: step / warmup,
                lambda step, warmup, total: step / (warmup + 1),
            )
        ),
        _rising(
            "lr-repeat",
            lambda step, warmup, total: max(step, 1) / warmup,
            Words(
                "steps 0 and 1 have the same rate (max(step, 1))",
                "ステップ 0 と 1 の学習率が同じです (max(step, 1))",
            ),
        ),
        _rising(
            "lr-repeat",
            lambda step, warmup, total: max(step, 1) / (warmup + 1),
            Words(
                "steps 0 and 1 have the same rate (max(step, 1))",
                "ステップ 0 と 1 の学習率が同じです (max(step, 1))",
            ),
        ),
        _rising(
            "lr-whole-division",
            lambda step, warmup, total: (step + 1) // (warmup + 1),
            Words(
                "// gives 0 during the whole of warm-up",
                "整数の割り算 // のため、ウォームアップ中ずっと 0 です",
            ),
        ),
        _rising(
            "lr-no-warmup",
            lambda step, warmup, total: 1.0,
            Words(
                "there is no warm-up: it begins at peak",
                "ウォームアップがなく、peak から始まります",
            ),
        ),
        _rising(
            "lr-decay-in-warmup",
            lambda step, warmup, total: rising(step, warmup, total) * (total - step) / total,
            Words(
                "the decay already acts during warm-up", "ウォームアップ中にも減衰がかかっています"
            ),
        ),
        _division(
            {"rising": _both_rising},
            Words(
                "division by 0 when warmup = total: the decay is computed during warm-up, too",
                "warmup = total で 0 除算です (ウォームアップ中も減衰を計算しています)",
            ),
        ),
        _division(
            {"falling": _both_falling},
            Words(
                "division by 0 when warmup = 0: warm-up is computed after it, too",
                "warmup = 0 で 0 除算です (その後もウォームアップを計算しています)",
            ),
        ),
        _falling(
            "lr-no-decay",
            lambda step, warmup, total: 1.0,
            Words("it stays at peak after warm-up", "ウォームアップ後も peak のままです"),
        ),
        _falling(
            "lr-decay-from-0",
            lambda step, warmup, total: (total - step) / total,
            Words(
                "the decay counts from step 0: the rate jumps when warm-up ends",
                "減衰がステップ 0 から数えられ、ウォームアップの終わりで跳びます",
            ),
        ),
        _falling(
            "lr-decay-too-slow",
            lambda step, warmup, total: 1 - (step - warmup) / total,
            Words(
                "the steps after warm-up are divided by total: it never comes down to 0",
                "ウォームアップ後のステップ数を total で割っており、0 まで下がりません",
            ),
        ),
        _falling(
            "lr-upside-down",
            lambda step, warmup, total: (step - warmup) / (total - warmup),
            Words(
                "after warm-up it rises from 0 to peak", "ウォームアップ後に 0 から上がっています"
            ),
        ),
        _falling(
            "lr-cosine-below-0",
            lambda step, warmup, total: cos(pi * (step - warmup) / (total - warmup)),
            Words(
                "cos alone goes down to −1; it is (1 + cos) / 2",
                "cos だけでは −1 まで下がります ((1 + cos) / 2 です)",
            ),
        ),
        Mistake(
            "lr-below-0",
            {"ended": falling},
            Words(
                "after the end the rate is below 0: steps go up the loss",
                "終わりの後で学習率が負になり、損失が増える向きに動きます",
            ),
            Words(
                "what was learned is undone again, step by step.",
                "学んだことが 1 ステップごとに失われます。",
            ),
            Words("what does your code give after step total?", "total の後はいくつになりますか。"),
            Words("give 0 from step total on.", "step ≥ total では 0 にしてください。"),
            "peak * max(0, total - step) / (total - warmup)",
        ),
    ),
    variants=(
        Variant(
            "lr-peak-in-warmup",
            {"rising": lambda step, warmup, total: (step + 1) / warmup},
            Words(
                "peak comes with the last step of warm-up, (step + 1) / warmup; here one later.",
                "ウォームアップの最後に peak に達します: (step + 1) / warmup。ここではその次です。",
            ),
        ),
        Variant(
            "lr-cosine",
            {"falling": _cosine},
            Words(
                "the rate falls along a cosine, as many do; here in a straight line.",
                "よくあるコサイン減衰です (ここでは直線)。",
            ),
        ),
        Variant(
            "lr-peak-in-warmup-cosine",
            {"rising": lambda step, warmup, total: (step + 1) / warmup, "falling": _cosine},
            Words(
                "warm-up is (step + 1) / warmup and the decay a cosine; both are common.",
                "ウォームアップは (step + 1) / warmup、減衰はコサインです (どちらも一般的)。",
            ),
        ),
    ),
    returns=("rate",),
)
