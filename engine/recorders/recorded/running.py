"""A script that runs under a recorder: what is in place of the framework's objects afterwards."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import ChainMap
from typing import Any

from ...script.calls import PassCall
from ...script.script_state import USUAL_LOSSES, Loaded
from .archive import writing
from .events import Event, Halted
from .frameworks import Framework
from .heap import Describer, KeptTensor, Rebuilder
from .playback import Playback
from .recorder import FrameworkRecorder
from .tensors import Sink

_MOST_ROOTS = 8
"""So many named values are looked at where none is called as losses are."""


_MOST_KEPT = 64
"""Entries of a container of which the tensors are kept one by one."""


class Watched(Playback, ABC):
    """A run of a program of another framework.

    Attributes:
        recorder: tells the player what happens.
    """

    recorder: FrameworkRecorder

    def __init__(self, loaded: Loaded, framework: Framework) -> None:
        super().__init__(framework)
        self.loaded, self.framework = loaded, framework
        self.writer = writing()
        if self.writer is not None:
            self.writer.framework = framework
        loaded.calls.keep = self._keep

    def _keep(self, value: Any) -> Any:
        """Return what is kept of a value of the program: of tensors, also in containers, what stands for them."""
        if type(value) is list or type(value) is tuple:  # a class may have an == of its own
            return value if len(value) > _MOST_KEPT else [self._keep_tensor(v) for v in value]
        if type(value) is dict:
            return value if len(value) > _MOST_KEPT else {n: self._keep_tensor(v) for n, v in value.items()}
        return self._keep_tensor(value)

    def _keep_tensor(self, value: Any) -> Any:
        number = self.recorder.find_number(value)
        tensor = None if number is None else self.player.tensors.get(number)
        return value if number is None or tensor is None else KeptTensor(number, tensor)

    @property
    def sink(self) -> Sink:
        """Receiver of events: the player, and whoever writes the run down."""
        return self.play if self.writer is None else self._tell_both

    def _tell_both(self, event: Event) -> None:
        assert self.writer is not None
        self.writer(event)
        self.play(event)

    @abstractmethod
    def describer(self) -> Describer:
        """Describes the framework's objects."""

    @abstractmethod
    def explore(self, root: Any) -> None:
        """Have the framework compute the gradients of what the program leaves behind and ran no pass from."""

    def _roots(self) -> list[Any]:
        """Return what may be the loss of a program without a backward pass: what a function gave, else named values."""
        result = self.loaded.result
        given = [*result] if isinstance(result, (list, tuple)) else [result]
        named = {n: v for n, v in self.loaded.namespace.items() if not n.startswith("__")}
        usual = [named[n] for n in USUAL_LOSSES if n in named][:1]
        roots = [r for r in (*given, *(usual or named.values())) if self.is_root(r)]
        return [root for i, root in enumerate(roots) if all(root is not r for r in roots[:i])][:_MOST_ROOTS]

    @abstractmethod
    def is_root(self, value: Any) -> bool:
        """Return whether *value* is one number of the framework's that a pass can start from."""

    def translate(self) -> None:
        """Put what stands for the framework's objects into what the file has left behind."""
        self.recorder.flush()
        if not self.loaded.calls.sweeps and self.loaded.error is None:
            for root in self._roots():
                self.explore(root)
        describer = self.describer()
        loaded = self.loaded
        names = describer.names(loaded.namespace)
        result = describer.value(loaded.result, 0)
        calls = [call for call in loaded.calls.every if call.names]
        scopes = [[describer.names(scope.values) for scope in call.names] for call in calls]
        if self.writer is not None:
            self._write(describer.objects, names, result, {call.number: call for call in calls}, scopes)
        tensors = ChainMap(self.player.tensors, describer.kept)
        rebuilder = Rebuilder(describer.objects, tensors, self.framework.package)
        plain = {n: v for n, v in loaded.namespace.items() if n.startswith("__")}
        loaded.namespace = {**plain, **rebuilder.names(names)}
        if loaded.result is not None and result is not None:
            loaded.result = rebuilder.value(result)
        for call, scope in zip(calls, scopes, strict=True):
            self._rename(call, [rebuilder.names(n) for n in scope])

    def _write(self, objects: Any, left: Any, result: Any, calls: dict[int, PassCall], scopes: Any) -> None:
        """Write down what the program holds."""
        assert self.writer is not None
        loaded, error = self.loaded, self.loaded.error
        if loaded.calls.stopped is not None:
            self.writer(Halted(loaded.calls.stopped, loaded.calls.time_limit))
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
