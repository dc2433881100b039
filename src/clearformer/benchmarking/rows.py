"""The rows of the table of speed: what `clearformer bench` measures, in this order."""

from functools import partial

from clearformer.benchmarking import (
    attention,
    byte_pairs,
    generation_speed,
    llama_speed,
    start,
    time_to_quality,
)
from clearformer.benchmarking import training_step as training
from clearformer.benchmarking.goal import Goal
from clearformer.benchmarking.report import Report
from clearformer.benchmarking.row import Progress, Request, Row

GET_TORCH = "pip install torch"
GET_TIKTOKEN = "pip install tiktoken"
GET_HUGGING_FACE = "pip install transformers torch"
GET_C_PROGRAM = "--c-program PATH, where PATH is run of github.com/karpathy/llama2.c"

QUICK_REFERENCE = 400
"""Steps of the reference of a quick measurement: too few to say what a whole run reaches."""

AS_GOOD = 1.05
"""Our loss over the reference's: that is the 1.88 nats which the reference is known for on
tiny-shakespeare, over the 1.79 which it reaches as it is trained here."""

VOCABULARIES = {"small": 65, "medium": 65, "large": 50_257}
"""Of the models that write: characters of a play; byte pairs of GPT-2."""

TOKENS = {"small": 64, "medium": 256, "large": 64}
"""In a generation."""

LLAMA_TOKENS = {"small": (256, 256), "medium": (256, 64), "large": (64, 16)}
"""In a generation of Llama's pieces, and in a quick one: a C program counts in milliseconds."""

LLAMA_REPEATS = {"small": 2, "medium": 1, "large": 1}
"""Generations in a turn."""


def quality(request: Request, progress: Progress) -> Report:
    """A tenth of the reference's time."""
    steps = QUICK_REFERENCE if request.quick else time_to_quality.STEPS
    setting = time_to_quality.Setting(request.text, request.threads, steps)
    return time_to_quality.run(setting, progress)


def training_step(size: str, request: Request, progress: Progress) -> Report:
    """A step of the default recipe."""
    work = training.WORKLOADS[size]
    setting = training.Setting(size, "modern", work.batch, request.threads)
    steps = max(1, work.steps // 4) if request.quick else work.steps
    return training.against_peer(setting, request.turns(work.turns), steps, progress)


def causal_attention(length: int, backwards: bool, request: Request, progress: Progress) -> Report:
    """One sequence, 8 heads of 64."""
    setting = attention.Setting(length, backwards, threads=request.threads)
    return attention.run(setting, request.turns(9), progress=progress)


def generation(size: str, request: Request, progress: Progress) -> Report:
    """Tokens of one stream."""
    tokens = TOKENS[size] // 4 if request.quick else TOKENS[size]
    setting = generation_speed.Setting(size, "modern", VOCABULARIES[size], tokens, 0.8)
    repeats = max(1, generation_speed.REPEATS[size] // (4 if request.quick else 1))
    return generation_speed.run(setting, request.threads, request.turns(5), repeats, progress)


def llama(size: str, peer: str, request: Request, progress: Progress) -> Report:
    """Tokens of one stream, by a model that C programs and Hugging Face have, too."""
    tokens = LLAMA_TOKENS[size][request.quick]
    setting = llama_speed.LlamaSetting(size, "modern", VOCABULARIES[size], tokens, 0.8)
    return llama_speed.run(
        setting,
        request.threads,
        request.turns(5),
        LLAMA_REPEATS[size],
        request.c_program,
        ways=llama_speed.AS_CHOSEN,
        peers=[peer],
        progress=progress,
    )


def bytepair(what: str, request: Request, progress: Progress) -> Report:
    """Learning or encoding the text."""
    setting = byte_pairs.Setting(request.text.text, threads=request.threads)
    return byte_pairs.run(what, setting, request.turns(5), progress)


def one_letter(request: Request, progress: Progress) -> Report:
    """A text that is a single run; the library takes long for it, so that it has one turn."""
    peers = not request.quick
    return byte_pairs.run("one-letter", byte_pairs.one_letter(request.threads), 1, progress, peers)


def command(name: str, request: Request, progress: Progress) -> Report:
    """The time of a command in a fresh process."""
    return start.one(name, request.turns(11), progress)


def first_step(request: Request, progress: Progress) -> Report:
    """From the start of `train` to its first step."""
    return start.first_step(request.text.text, request.turns(7), progress)


ROWS = (
    Row(
        "time-to-quality", {"en": "time to quality", "ja": "品質に達する時間"}, "nats",
        Goal(AS_GOOD), GET_TORCH, quality,
    ),
    Row(
        "training-small", {"en": "training, small", "ja": "学習1ステップ(小)"}, "ms",
        Goal(0.75), GET_TORCH, partial(training_step, "small"),
    ),
    Row(
        "training-medium", {"en": "training, medium", "ja": "学習1ステップ(中)"}, "ms",
        Goal(0.85), GET_TORCH, partial(training_step, "medium"),
    ),
    Row(
        "attention-1024", {"en": "attention, 1,024", "ja": "注意の計算 1,024"}, "ms",
        Goal(0.9), GET_TORCH, partial(causal_attention, 1024, False),
    ),
    Row(
        "attention-1024-both", {"en": "both ways, 1,024", "ja": "同 勾配とも 1,024"}, "ms",
        Goal(1.0), GET_TORCH, partial(causal_attention, 1024, True),
    ),
    Row(
        "attention-4096", {"en": "attention, 4,096", "ja": "注意の計算 4,096"}, "ms",
        Goal(0.9), GET_TORCH, partial(causal_attention, 4096, False),
    ),
    Row(
        "attention-4096-both", {"en": "both ways, 4,096", "ja": "同 勾配とも 4,096"}, "ms",
        Goal(1.0), GET_TORCH, partial(causal_attention, 4096, True),
    ),
    Row(
        "generation-small", {"en": "generation, small", "ja": "文の生成(小)"}, "tokens/s",
        Goal(1.0, at_least=True), GET_TORCH, partial(generation, "small"),
    ),
    Row(
        "generation-medium", {"en": "generation, medium", "ja": "文の生成(中)"}, "tokens/s",
        Goal(1.0, at_least=True), GET_TORCH, partial(generation, "medium"),
    ),
    Row(
        "generation-large", {"en": "generation, large", "ja": "文の生成(大)"}, "tokens/s",
        Goal(1.0, at_least=True), GET_TORCH, partial(generation, "large"),
    ),
    Row(
        "generation-c-small", {"en": "C program, small", "ja": "Cプログラム(小)"}, "tokens/s",
        Goal(1.0, at_least=True), GET_C_PROGRAM, partial(llama, "small", llama_speed.C_PROGRAM),
    ),
    Row(
        "generation-c-medium", {"en": "C program, medium", "ja": "Cプログラム(中)"}, "tokens/s",
        Goal(1.0, at_least=True), GET_C_PROGRAM, partial(llama, "medium", llama_speed.C_PROGRAM),
    ),
    Row(
        "generation-c-large", {"en": "C program, large", "ja": "Cプログラム(大)"}, "tokens/s",
        Goal(1.0, at_least=True), GET_C_PROGRAM, partial(llama, "large", llama_speed.C_PROGRAM),
    ),
    Row(
        "generation-hf-small", {"en": "Hugging Face, small", "ja": "Hugging Face(小)"},
        "tokens/s", Goal(1.0, at_least=True), GET_HUGGING_FACE,
        partial(llama, "small", llama_speed.HUGGING_FACE),
    ),
    Row(
        "generation-hf-medium", {"en": "Hugging Face, medium", "ja": "Hugging Face(中)"},
        "tokens/s", Goal(1.0, at_least=True), GET_HUGGING_FACE,
        partial(llama, "medium", llama_speed.HUGGING_FACE),
    ),
    Row(
        "generation-hf-large", {"en": "Hugging Face, large", "ja": "Hugging Face(大)"},
        "tokens/s", Goal(1.0, at_least=True), GET_HUGGING_FACE,
        partial(llama, "large", llama_speed.HUGGING_FACE),
    ),
    Row(
        "bytepair-training", {"en": "byte pairs, learning", "ja": "バイト対の学習"}, "s",
        Goal(1.0), "", partial(bytepair, "training"),
    ),
    Row(
        "bytepair-encoding", {"en": "byte pairs, encoding", "ja": "バイト対の符号化"}, "s",
        Goal(1.0), "", partial(bytepair, "encoding"), byte_pairs.TOKENIZERS,
    ),
    Row(
        "bytepair-tiktoken", {"en": "the same, tiktoken", "ja": "同(tiktoken)"}, "s",
        Goal(1.0), GET_TIKTOKEN, partial(bytepair, "encoding"), byte_pairs.TIKTOKEN,
    ),
    Row(
        "bytepair-one-letter", {"en": "200 kB of one letter", "ja": "1文字だけの200 kB"}, "s",
        Goal(2.0, "ours"), "", one_letter,
    ),
    Row(
        "start-help", {"en": "clearformer --help", "ja": "clearformer --help"}, "s",
        Goal(0.25, "ours"), "", partial(command, "clearformer --help"),
    ),
    Row(
        "start-explain", {"en": "clearformer explain", "ja": "clearformer explain"}, "s",
        Goal(0.6, "ours"), "", partial(command, "clearformer explain"),
    ),
    Row(
        "start-train", {"en": "train to first step", "ja": "train の最初の一歩"}, "s",
        Goal(2.0, "ours"), "", first_step,
    ),
)  # fmt: skip
