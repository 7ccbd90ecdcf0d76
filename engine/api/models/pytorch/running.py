"""A script of PyTorch among model files: which files are some, and what is in place of torch's objects afterwards."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..errors import PackageNeeded

if TYPE_CHECKING:
    from ..calls import PassCall
    from ..loader import Loaded, Request
    from ..targets import Target
    from .events import Event

INSTALL = "pip install torch"


def is_torchs(text: bytes) -> bool:
    """Whether a file imports torch, and not paddle: seen from its import statements alone.

    >>> is_torchs(b"import torch.nn as nn")
    True
    >>> is_torchs(b"import paddle, torch")
    False
    """
    if b"torch" not in text:
        return False
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    packages: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            packages.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            packages.add(node.module.partition(".")[0])
    return "torch" in packages and not packages & {"paddle", "gradtool"}


class Watched:
    """A run of a program of torch.

    Attributes:
        player: has the tensors that stand for torch's.
    """

    def __init__(self, loaded: Loaded, request: Request) -> None:
        import torch

        from .archive import writing
        from .player import Player
        from .recorder import TorchRecorder

        self.loaded = loaded
        self.player = Player()
        self.writer = writing()
        self.recorder = TorchRecorder(self.player if self.writer is None else self._tell_both, request.spared)
        torch.manual_seed(request.seed)

    def has_graph(self, value: Any) -> bool:
        """Whether a value is a tensor that was computed from something that takes gradients."""
        import torch

        return isinstance(value, torch.Tensor) and value.grad_fn is not None

    def _tell_both(self, event: Event) -> None:
        assert self.writer is not None
        self.writer(event)
        self.player(event)

    def translate(self) -> None:
        """Put what stands for torch's objects into what the file has left behind."""
        from .heap import Describer, Rebuilder

        self.recorder.flush()
        describer = Describer(self.recorder.known)
        loaded = self.loaded
        left = describer.names(loaded.namespace)
        result = describer.value(loaded.result, 0)
        calls = [call for call in loaded.calls.every if call.names]
        scopes = [[describer.names(scope.values) for scope in call.names] for call in calls]
        if self.writer is not None:
            self._write(describer.objects, left, result, {call.number: call for call in calls}, scopes)
        rebuilder = Rebuilder(describer.objects, self.player.tensors)
        plain = {n: v for n, v in loaded.namespace.items() if n.startswith("__")}
        loaded.namespace = {**plain, **rebuilder.names(left)}
        if loaded.result is not None and result is not None:
            loaded.result = rebuilder.value(result)
        for call, names in zip(calls, scopes, strict=True):
            self._rename(call, [rebuilder.names(n) for n in names])

    def _write(self, objects: Any, left: Any, result: Any, calls: dict[int, PassCall], scopes: Any) -> None:
        """Write down what the program holds."""
        assert self.writer is not None
        loaded, error = self.loaded, self.loaded.error
        self.writer.left = {
            "file": loaded.name,
            "names": left,
            "objects": objects,
            "result": result,
            "function": loaded.function,
            "scopes": {
                str(n): [[scope.function, names] for scope, names in zip(call.names, of, strict=True)]
                for (n, call), of in zip(calls.items(), scopes, strict=True)
            },
            "raised": None if error is None else {"message": str(error), "frames": getattr(error, "frames", [])},
        }

    def _rename(self, call: PassCall, names: list[dict[str, Any]]) -> None:
        call.names = [
            type(scope)(scope.function, values, scope.code) for scope, values in zip(call.names, names, strict=True)
        ]
        inside = (n for values in reversed(names) for n, v in values.items() if v is call.loss)
        call.python = call.python or next(inside, "")


@contextlib.contextmanager
def watched(target: Target, data: bytes, loaded: Loaded, request: Request) -> Iterator[Watched | None]:
    """Watch a file that is torch's while it runs inside; None for any other.

    Raises:
        CommandError: it is torch's, and torch is not installed.
    """
    texts = [cell.text for cell in target.cells] or [data]
    if not any(map(is_torchs, texts)):
        yield None
        return
    if importlib.util.find_spec("torch") is None:
        raise PackageNeeded(
            f"{target.name} is a program of PyTorch, and torch is not installed where gradtool is",
            f"{INSTALL}  (gradtool records the run inside torch, and everything else works without it)",
        )
    run = Watched(loaded, request)
    with run.recorder.recording():
        yield run
