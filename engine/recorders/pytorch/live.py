"""PyTorch in a process that goes on: what it computes while somebody listens, and graphs that it made before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from gradtool.paddle.nn import Layer

from ...answers.saved import SavedStory
from ...answers.why.answers import Answer
from ...core.vocabulary import use_vocabulary
from ...eager.tensor import Tensor
from ...request.request import Request
from ...script.script_state import Loaded
from ..recorded.frameworks import TORCH
from ..recorded.heap import Describer, Rebuilder
from ..recorded.playback import Playback
from . import unrecorded_graph
from .graphs import differentiate, freed_error
from .recorder import TorchRecorder
from .script_run import PARTS, WatchedTorch

_OURS = (torch.Tensor, torch.nn.Module)


class LiveTorch(Playback):
    """PyTorch's tensors in this process, and the tensors of dynamic mode that stand for them.

    What happens inside :meth:`listen` is played on gradtool's tape as it happens. Of a graph that PyTorch made at
    another time its nodes and leaves are known, and what each of them gives: neither lines nor values.

    Attributes:
        recorder: tells the player what happens.
    """

    vocabulary = TORCH.vocabulary

    def __init__(self) -> None:
        with use_vocabulary():
            super().__init__(TORCH)
        self.recorder = TorchRecorder(self.play)
        self.recorder.joined = True
        self._listens = False

    @contextmanager
    def listen(self) -> Iterator[None]:
        """Inside, what PyTorch computes in this thread is played; nothing of it stays in PyTorch."""
        if self._listens:
            yield
            return
        self._listens = True
        try:
            with self.recorder.record():
                yield
        finally:
            self._listens = False

    @staticmethod
    def watch(loaded: Loaded, request: Request) -> WatchedTorch:
        """Return what records a part of the program by itself, from nothing."""
        watched = WatchedTorch(loaded, request)
        watched.recorder.joined = True
        return watched

    # -- what stands for PyTorch's objects ----------------------------------------------------------------------------

    def tensor(self, t: Any) -> Tensor:
        """Return what stands for a tensor; the graph behind one that was never met is read off PyTorch.

        Raises:
            Exception: a fault of gradtool's own, met while it listened.
        """
        self.recorder.flush()
        with self.recorder.read_graphs():
            number = self.recorder.number(t)
        if self.failed is not None:
            raise self.failed
        return self.player.tensors[number]

    def loss(self, t: Any) -> Tensor:
        """Return what stands for a loss, with what each node behind it gives: PyTorch runs backward once for that.

        No ``.grad`` changes, and the graph stays.

        Raises:
            LossError: PyTorch has freed the graph.
        """
        found = self.tensor(t)
        if found.stop_gradient or found.node is None or getattr(found.node, "told", None):
            return found
        leaves = self.recorder.leaves_behind(t)
        if not leaves:
            return found
        self.recorder.explore(lambda: differentiate(t, leaves))
        if not getattr(found.node, "told", None):
            raise freed_error()
        return found

    def names(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return *values* with gradtool's layers and tensors in place of PyTorch's, and others as they are."""
        describer = Describer(self._number, torch.Tensor, torch.nn.Module, PARTS)
        with self.recorder.read_graphs():
            described = describer.names(values)
        made = Rebuilder(describer.objects, self.player.tensors, TORCH.package).names(described)
        for name, value in made.items():
            if isinstance(value, Layer):
                for path, p in value.named_parameters():
                    p.layer_path = f"{name}.{path}"  # several modules may have the same paths
        return {n: made.get(n, v) for n, v in values.items() if n in made or not isinstance(v, _OURS)}

    def _number(self, t: Any) -> int | None:
        """Return the number of a tensor that was met, or that takes gradients itself."""
        known = self.recorder.find_number(t)
        if (
            known is None
            and self.recorder.is_told(t)
            and t.is_leaf
            and (t.requires_grad or isinstance(t, torch.nn.Parameter))
        ):
            return self.recorder.number(t)
        return known if known in self.player.tensors else None

    # -- where nobody listened ----------------------------------------------------------------------------------------

    def explain_by_graph(self, loss: Any, names: Mapping[str, Any], asked: Sequence[Any] | None = None) -> list[Answer]:
        """Return why leaves have the gradients that they have, as far as the graph behind a loss says.

        Args:
            names: the user's, by which leaves are called.
            asked: the leaves that are asked about; None for those in the graph and those that have names.
        """
        with self.recorder.unheard(), self.recorder.aside():
            return unrecorded_graph.explain_by_graph(loss, names, asked)

    def measure_saved(self, loss: Any, names: Mapping[str, Any]) -> SavedStory:
        """Return what the graph behind a loss keeps alive.

        Raises:
            LossError: PyTorch has freed it.
        """
        with self.recorder.unheard(), self.recorder.aside():
            return unrecorded_graph.measure_saved(loss, names)
