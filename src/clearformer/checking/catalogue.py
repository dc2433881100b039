"""Which exercises there are, in the order in which a Transformer is built; and finding one."""

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from clearformer.checking.exercise import Exercise
from clearformer.checking.nearest import nearest
from clearformer.errors import ConfigurationError

NAMES = (
    "one_hot",
    "embedding",
    "embedding_gradient",
    "positional_encoding",
    "add_positions",
    "rotary_positions",
    "query_key_value",
    "attention_scores",
    "scaled_scores",
    "causal_mask",
    "padding_mask",
    "softmax",
    "self_attention",
    "split_heads",
    "merge_heads",
    "multi_head_attention",
    "attention_with_lengths",
    "cross_attention",
    "kv_cache_append",
    "kv_cache_step",
    "kv_cache_prefill",
    "layer_norm",
    "rms_norm",
    "gelu",
    "feed_forward",
    "pre_norm_block",
    "post_norm_block",
    "rnn_forward",
    "rnn_backward",
    "lstm_step",
    "gru_step",
    "encoder_state",
    "seq2seq_attention",
    "padded_attention",
    "teacher_forcing",
    "skipgram_loss",
    "noise_distribution",
    "token_losses",
    "cross_entropy",
    "padded_cross_entropy",
    "cross_entropy_gradient",
    "perplexity",
    "temperature",
    "top_k",
    "top_p",
    "get_batch",
    "split_windows",
    "clip_gradients",
    "adam_step",
    "adamw_step",
    "learning_rate",
    "gradient_descent",
    "tied_gradient",
    "truncated_bptt",
)
"""Each lives in the module of its name under `exercises`."""


def find(name_or_path: str) -> Exercise:
    """The exercise of this name, or the one in a teacher's own file (a path ending in .py).

    Raises:
        ConfigurationError: there is none of this name; a file that is not there, does not run, or
            holds no `EXERCISE`.
    """
    if name_or_path.endswith(".py"):
        return _of_file(Path(name_or_path))
    if name_or_path not in NAMES:
        near = nearest(name_or_path, NAMES, lambda: {each.name: each.title.en for each in every()})
        hint = f"did you mean {' or '.join(near)}?" if near else "see clearformer check --list"
        raise ConfigurationError(f"there is no exercise {name_or_path!r:.60}; {hint}")
    exercise: Exercise = import_module(f"{__package__}.exercises.{name_or_path}").EXERCISE
    return exercise


def every() -> tuple[Exercise, ...]:
    """All of them, in order."""
    return tuple(find(name) for name in NAMES)


def _of_file(path: Path) -> Exercise:
    if not path.is_file():
        raise ConfigurationError(
            f"there is no exercise file {str(path)!r}; write its path or a name"
        )
    spec = spec_from_file_location(f"exercise_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ConfigurationError(f"{path} cannot be loaded as Python; expected an exercise file")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    except ConfigurationError as error:
        raise ConfigurationError(f"in the exercise file {path}: {error}") from error
    except Exception as error:
        raise ConfigurationError(
            f"the exercise file {path} does not run: {type(error).__name__}: {error}"
        ) from error
    exercise = getattr(module, "EXERCISE", None)
    if not isinstance(exercise, Exercise):
        raise ConfigurationError(
            f"{path} has no EXERCISE = Exercise(…); see the how-to for teachers"
        )
    return exercise
