"""A run of a script of Paddle in real Paddle."""

from __future__ import annotations

from typing import Any

import paddle

from ...request.request import Request
from ...script.script_state import Loaded
from ..recorded.frameworks import PADDLE
from ..recorded.heap import Describer
from ..recorded.running import Watched
from .recorder import PaddleRecorder, Tensor


class WatchedPaddle(Watched):
    """A run of a script of Paddle."""

    recorder: PaddleRecorder

    def __init__(self, loaded: Loaded, request: Request) -> None:
        super().__init__(loaded, PADDLE)
        self.recorder = PaddleRecorder(self.sink, request.run.spared)
        paddle.disable_static()
        paddle.seed(request.run.seed)

    def describer(self) -> Describer:
        """Describes Paddle's objects."""
        parts = ("_parameters", "_sub_layers", "_buffers")
        return Describer(self.recorder.find_number, Tensor, paddle.nn.Layer, parts)

    def is_root(self, value: Any) -> bool:
        """As in the base: of none, since gradtool has Paddle's operators with their gradients."""
        return False

    def explore(self, root: Any) -> None:
        """As in the base; see :meth:`is_root`."""
