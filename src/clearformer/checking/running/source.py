"""The text of a learner's file, or why there is none."""

from pathlib import Path

from clearformer.checking.record import Failure
from clearformer.checking.running.failing import failure

LARGEST = 2 * 2**20
"""Bytes of a file of code."""


def read_source(file: Path) -> str | Failure:
    """What is written in `file`, as text in UTF-8."""
    if file.is_dir():
        return failure(
            "file",
            "expected a Python file; {file} is a folder",
            "Python ファイルが必要です。{file} はフォルダです",
            file=file,
        )
    if file.exists() and not file.is_file():  # reading a pipe or device may never end
        return failure(
            "file",
            "expected a Python file; {file} is a pipe or a device",
            "Python ファイルが必要です。{file} はパイプかデバイスです",
            file=file,
        )
    try:
        with file.open("rb") as stream:
            data = stream.read(LARGEST + 1)
    except FileNotFoundError:
        return failure("file", "there is no file {file}", "ファイル {file} がありません", file=file)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return failure(
            "file",
            "cannot read {file}: {reason}",
            "{file} を読めません: {reason}",
            file=file,
            reason=reason,
        )
    if file.suffix == ".ipynb":
        return failure(
            "file",
            "{file} is a notebook: call cf.check(your_function, \"…\") in a cell of it, "
            "or save it as a .py file",
            "{file} はノートブックです。セルの中で cf.check(関数, \"…\") を呼ぶか、"
            ".py として保存してください",
            file=file,
        )  # fmt: skip
    if len(data) > LARGEST:
        return failure(
            "file",
            "{file} has more than 2 MB; is it Python?",
            "{file} は 2 MB を超えています。Python ファイルですか",
            file=file,
        )
    return _decoded(file, data)


def _decoded(file: Path, data: bytes) -> str | Failure:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return failure(
            "file",
            "{file} is not UTF-8: byte {byte:#04x} in line {line}; save it as UTF-8",
            "{file} は UTF-8 ではありません ({line} 行目のバイト {byte:#04x})。"
            "UTF-8 で保存してください",
            file=file,
            byte=data[error.start],
            line=data.count(b"\n", 0, error.start) + 1,
        )
