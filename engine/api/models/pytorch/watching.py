"""A run of a script of PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from ..recorded.frameworks import TORCH
from ..recorded.heap import Describer
from ..recorded.running import Watched
from .recorder import TorchRecorder

if TYPE_CHECKING:
    from ..loader import Loaded, Request


class WatchedTorch(Watched):
    """A run of a script of PyTorch."""

    recorder: TorchRecorder

    def __init__(self, loaded: Loaded, request: Request) -> None:
        super().__init__(loaded, TORCH)
        self.recorder = TorchRecorder(self.sink, request.spared)
        torch.manual_seed(request.seed)

    def describer(self) -> Describer:
        """Describes torch's objects."""
        parts = ("_parameters", "_modules", "_buffers")
        return Describer(self.recorder.known, torch.Tensor, torch.nn.Module, parts)
