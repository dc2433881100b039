"""For a notebook: the verdict with two heat maps, the answer's table and the right one."""

from html import escape

import numpy as np

from clearformer.checking.agreement import different, tolerance_of
from clearformer.checking.exercise import Case
from clearformer.checking.running.here import NOT_CONTAINED
from clearformer.checking.verdict import Verdict
from clearformer.checking.words import Words

MOST = 12
"""Rows and columns that are drawn."""
MINE, RIGHT = Words("yours", "あなたの結果"), Words("expected", "正しい結果")
HERE = Words(
    "Warning: it ran in this process, without limits of time and memory; a file that is judged by "
    "clearformer check runs in one of its own.",
    "注意: このプロセスの中で、時間やメモリの制限なしに実行しました。"
    "clearformer check で判定するファイルは別のプロセスで動きます。",
)
COLOURS = {"right": "#1a7f37", "variant": "#1a7f37", "wrong": "#b3261e", "failed": "#8a5a00"}


def picture_of(verdict: Verdict, message: str, language: str = "en") -> str:
    """HTML: the text, and where a table differs, both tables with the differing cells framed."""
    text = (
        f'<pre style="border-left:4px solid {COLOURS[verdict.kind]};padding:0.4em 0.8em;'
        f'white-space:pre-wrap">{escape(message)}</pre>'
    )
    tables = _tables(verdict.failing, language) if verdict.failing else ""
    note = ""
    if NOT_CONTAINED in verdict.record.notes:
        note = f"<p><small>{escape(HERE.to(language))}</small></p>"
    return f"<div>{text}{tables}{note}</div>"


def _tables(case: Case, language: str) -> str:
    for name, right in case.right.items():
        mine = case.mine.get(name)
        if mine is not None and _can_be_drawn(mine) and _can_be_drawn(right):
            wrong = None
            if mine.shape == right.shape:
                wrong = np.atleast_2d(different(mine, right, tolerance_of(case.mine)))
            top = float(np.abs(right[np.isfinite(right)]).max(initial=0)) or 1.0
            drawn = [
                _table(mine, wrong, top, f"{name}: {MINE.to(language)} {mine.shape}"),
                _table(right, wrong, top, f"{name}: {RIGHT.to(language)} {right.shape}"),
            ]
            return f'<div style="display:flex;gap:2em;flex-wrap:wrap">{"".join(drawn)}</div>'
    return ""


def _can_be_drawn(array: np.ndarray) -> bool:
    return array.ndim in (1, 2) and array.size > 0 and array.dtype.kind in "fiub"


def _table(array: np.ndarray, wrong: np.ndarray | None, top: float, title: str) -> str:
    rows = np.atleast_2d(array)[:MOST, :MOST]
    body = "".join(
        "<tr>" + "".join(_cell(value, wrong, place, top) for place, value in row) + "</tr>"
        for row in (
            [((i, j), float(value)) for j, value in enumerate(line)] for i, line in enumerate(rows)
        )
    )
    return (
        f'<table style="border-collapse:separate;border-spacing:2px;font:12px monospace">'
        f"<caption>{escape(title)}</caption>{body}</table>"
    )


def _cell(value: float, wrong: np.ndarray | None, place: tuple[int, int], top: float) -> str:
    """One number; the deeper the blue, the larger; orange below 0; a red frame where it differs."""
    share = min(abs(value) / top, 1.0) if np.isfinite(value) else 0.0
    hue = "31, 119, 180" if value >= 0 else "230, 110, 20"
    frame = "2px solid #b3261e" if wrong is not None and wrong[place] else "2px solid transparent"
    return (
        f'<td style="background:rgba({hue}, {0.75 * share:.2f});border:{frame};'
        f'padding:2px 6px;text-align:right">{value:.2f}</td>'
    )
