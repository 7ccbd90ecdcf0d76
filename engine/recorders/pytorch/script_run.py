"""A run of a script of PyTorch."""

from __future__ import annotations

from typing import Any

import torch

from ...request.request import Request
from ...script.script_state import Loaded
from ..recorded.frameworks import TORCH
from ..recorded.heap import Describer
from ..recorded.running import Watched
from .graphs import differentiate
from .recorder import TorchRecorder

PARTS = ("_parameters", "_modules", "_buffers")
"""The attributes of a module that hold its parameters, inner modules and buffers by name."""


class WatchedTorch(Watched):
    """A run of a script of PyTorch."""

    recorder: TorchRecorder

    def __init__(self, loaded: Loaded, request: Request) -> None:
        super().__init__(loaded, TORCH)
        self.recorder = TorchRecorder(self.sink, request.run.spared)

    def describer(self) -> Describer:
        """Describes torch's objects."""
        return Describer(self.recorder.find_number, torch.Tensor, torch.nn.Module, PARTS)

    def is_root(self, value: Any) -> bool:
        """As in the base."""
        return (
            isinstance(value, torch.Tensor) and value.numel() == 1 and value.is_floating_point() and value.requires_grad
        )

    def explore(self, root: Any) -> None:
        """As in the base; the program's random numbers stay where they are."""
        leaves = self.recorder.leaves_behind(root)
        if leaves:
            self.recorder.explore(lambda: differentiate(root, leaves))
