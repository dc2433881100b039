"""The learning rate over a run: up in a straight line, level, down in a straight line to zero."""

from clearformer.training.options import TrainingOptions


def learning_rate(options: TrainingOptions, progress: float) -> float:
    """The learning rate when the share `progress` of the run (0 … 1) is done.

    A pure function of the progress, so that a resumed run goes on exactly. (Warm-up: Vaswani et
    al., 2017, section 5.3; linear decay to zero: Bergsma et al., "Straight to Zero", 2025.)
    """
    factor = 1.0
    if progress < options.warm_up:
        factor = progress / options.warm_up
    if progress > options.decay_from:  # also while it still rises: whichever is less
        factor = min(factor, (1 - progress) / (1 - options.decay_from))
    return options.learning_rate * max(factor, 0.0)
