"""How an exercise is written as an `nn.Module`: what makes one, what it holds, how it is called.

    ModuleForm(
        call=("X",),
        sizes={"d_in": lambda given: given["X"].shape[-1], …},
        held={"W_Q": Held(("query", "q_proj", "w_q")), …},
    )

Every probe makes a module of its own sizes, whose parameters are then filled from the probe.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Given = Mapping[str, Any]
"""The arguments of a probe by name, with the defaults of those that it leaves out."""


@dataclass(frozen=True)
class Held:
    """An argument of the exercise that a module holds as a parameter."""

    names: Sequence[str] = ()
    """What learners call it, apart from the argument's own name: "query", "q_proj". Upper and
    lower case, "_" and a last "weight" do not count."""
    value: Callable[[Given], np.ndarray] | None = None
    """What the parameter holds, where that is not the argument itself."""


@dataclass(frozen=True)
class ModuleForm:
    """The exercise as a module.

    A parameter fits an argument of its name with its shape; an `nn.Linear` holds the transpose.
    Where a name says nothing, a shape that only one argument has decides. Biases that the exercise
    does not have become zero.
    """

    call: Sequence[str]
    """Arguments that the module is called with, in order."""
    sizes: Mapping[str, Callable[[Given], int]] = field(default_factory=dict)
    """What a constructor may ask for, in the usual order, and how to read it off the arguments."""
    size_names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Other names of sizes: {"d_in": ("d_model", "embed_dim", "C")}."""
    held: Mapping[str, Held] = field(default_factory=dict)
    """Arguments that are held as parameters."""
    fused: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Parameters that hold several arguments side by side: {"c_attn": ("W_Q", "W_K", "W_V")}."""
    narrowed: Callable[[Given], Mapping[str, Any]] | None = None
    """Arguments that take the place of those of a probe where a module has fewer sizes than the
    function, such as one head size for keys and values."""
