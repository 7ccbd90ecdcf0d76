"""From the events of a recorder inside another framework to gradtool's own tape, journal and step events.

Each of the framework's tensors has one of dynamic mode that stands for it (:mod:`.counterparts`): the same memory, its
place on the tape, its write counter. Each call gets the node that gradtool's operator would have, and whoever watches
hears of it as if gradtool had computed it. Where the framework runs backward, gradtool's own sweep runs over these
nodes, each of which gives what the framework gave.
"""

from __future__ import annotations

from ...core import source
from ...core.vocabulary import speak
from ...eager.tensor import Tensor
from . import events
from .call_player import CallPlayer
from .counterparts import Counterparts
from .frameworks import Framework
from .pass_player import PassPlayer
from .tensor_player import TensorPlayer
from .training_player import TrainingPlayer


class Player:
    """Plays events, one after the other: call it with each.

    Args:
        framework: whose events they are.
        apart: whether gradients come apart from the tensors that the program holds, as from a file.

    Attributes:
        counterparts: what stands here for tensors and nodes of the framework.
    """

    def __init__(self, framework: Framework, apart: bool = False) -> None:
        self.counterparts = Counterparts()
        # The players share the counterparts and nothing else: an event belongs to one of them.
        players = (
            TensorPlayer(self.counterparts),
            CallPlayer(framework, self.counterparts),
            PassPlayer(self.counterparts, apart),
            TrainingPlayer(self.counterparts),
        )
        self._handlers = {kind: play for player in players for kind, play in player.handlers().items()}
        speak(framework.vocabulary)

    @property
    def tensors(self) -> dict[int, Tensor]:
        """By number, what stands for a tensor of the framework that is still there."""
        return self.counterparts.tensors

    def __call__(self, event: events.Event) -> None:
        """Play one event.

        Raises:
            Stopped: there have been enough backward passes.
            FreedGraphError, InplaceError: as the framework did, with both sides of it.
        """
        # Whatever computes meanwhile stands where the program called, and not in this file.
        site = getattr(event, "site", None)
        before = source.pretend(site)
        source.pretend_drop(source.locate(getattr(event, "dropped", source.NOWHERE)))
        try:
            self._handlers[type(event)](event)
        finally:
            source.pretend(before)
