"""Whether what runs now is being recorded for PyTorch's compiler."""

import torch
from torch.fx.experimental.proxy_tensor import get_proxy_mode


def traced() -> bool:
    """True while a tracer listens.

    Then operations are written so that the compiler, which sees their parts, can derive a gradient
    and fuse them; else so that PyTorch makes few passes over the numbers by itself.
    """
    return torch.compiler.is_compiling() or get_proxy_mode() is not None
