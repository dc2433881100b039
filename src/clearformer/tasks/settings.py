"""The whole numbers with which tasks are set."""

from typing import Any

from clearformer.errors import ConfigurationError


def check_whole(name: str, value: Any, least: int, most: int, why: str = "") -> None:
    """Refuses a setting that is not a whole number from `least` to `most`.

    Raises:
        ConfigurationError: naming the setting, its limits and what arrived.
    """
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not (whole and least <= value <= most):
        reason = f" ({why})" if why else ""
        raise ConfigurationError(
            f"{name} must be a whole number from {least} to {most:,}{reason}; got {value!r}"
        )
