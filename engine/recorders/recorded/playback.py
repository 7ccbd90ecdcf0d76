"""Events of another framework, played on gradtool's tape while they happen."""

from __future__ import annotations

from ...eager.tape import FreedGraphError, InplaceError
from .events import BackwardEnded, Event
from .frameworks import Framework
from .player import Player


class Playback:
    """A player of a program that goes on whatever the player raises.

    Attributes:
        player: has the tensors that stand for the framework's.
        failed: what the player raised, which is no error of the program's.
    """

    def __init__(self, framework: Framework) -> None:
        self.player = Player(framework)
        self.failed: Exception | None = None

    def play(self, event: Event) -> None:
        """Play an event; where that fails, the program goes on and no further event is played.

        Raises:
            Stopped: there have been enough backward passes.
            GradtoolError: it says why the framework refused the pass that this event ends.
        """
        if self.failed is not None:
            return
        try:
            self.player(event)
        except Exception as error:
            if isinstance(event, BackwardEnded) and event.error and isinstance(error, (FreedGraphError, InplaceError)):
                raise
            self.failed = error
