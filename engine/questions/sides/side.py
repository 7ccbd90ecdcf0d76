"""Base of every kind of side in a comparison."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import ClassVar

from ...answers.diff.outline import Outline
from ...core import source
from ...core.command_errors import CommandError
from ...core.notes import Notes
from ...core.records import dataclass
from ...kinds.other_losses import Other
from ...request.options import Debug
from ...request.request import Request
from ...runs.timeline import Timeline
from ...view.graph import GraphView
from ..backward import Backward

VALUES = "--values"
PICTURES = "pictures"
RESOURCES = "--resources"


@dataclass(frozen=True, kw_only=True)
class _Told:
    """Requested parts next to the backward part."""

    debug: Debug | None = None
    outline: bool = True
    as_run: bool = False
    picture: bool = False
    backend: str | None = None


@dataclass(frozen=True)
class SideRequest(_Told):
    """Requested parts of a side, all of them from one load.

    Attributes:
        asked: the backward part.
        debug: which pass of a run; None if the values are not wanted.
        outline: whether the graph is wanted.
        as_run: whether it is to be that of the run, and not that of the model.
        picture: whether it is to be drawn.
        backend: what kernels run on; what is in use if None.
    """

    asked: Backward


@dataclass(frozen=True, slots=True)
class SideAnswer:
    """Requested parts of a side, as they are.

    Attributes:
        passes: how many backward passes the file made.
        others: the backward passes of other losses of the file.
    """

    outline: Outline | None = None
    view: GraphView | None = None
    run: Timeline | None = None
    passes: int = 1
    others: Sequence[Other] = ()

    @property
    def the_outline(self) -> Outline:
        """The graph, which was wanted."""
        assert self.outline is not None
        return self.outline

    @property
    def the_run(self) -> Timeline:
        """The run, which was wanted."""
        assert self.run is not None
        return self.run


class Side(ABC):
    """Side of a comparison by its name on the command line.

    Attributes:
        text: as it names it.
        lacks: what such a side does not hold -> how to say that; ``{text}`` in it is the name.
        is_run: whether what is known of it is a run.
    """

    lacks: ClassVar[Mapping[str, tuple[str, str]]] = {}
    is_run: ClassVar[bool] = False

    def __init__(self, text: str) -> None:
        self.text = text

    @classmethod
    @abstractmethod
    def claims(cls, text: str) -> bool:
        """Return whether *text* names such a side."""

    @property
    def title(self) -> str:
        """Title of the side in an answer."""
        return source.last_part(self.text)

    @property
    def step(self) -> int | None:
        """Number of the backward pass that it holds, where it is one of several and known."""
        return None

    @property
    def further(self) -> list[str]:
        """The words of a command that shows it, if one takes it."""
        return []

    def must_have(self, what: str) -> None:
        """Raise :class:`CommandError` if such a side does not hold *what*."""
        if what in self.lacks:
            said, hint = self.lacks[what]
            raise CommandError(said.format(text=self.text), hint)

    @abstractmethod
    def seen(self, wanted: SideRequest, request: Request, notes: Notes) -> SideAnswer:
        """Return the requested parts of the side.

        Args:
            request: how models are loaded; the model in it is not looked at.

        Raises:
            CommandError: there is nothing of that name.
            ModelError: the user's code raised.
            GradtoolError: the engine refused, or a file is not what its name says.
        """

    @contextmanager
    def open_request(self, request: Request) -> Iterator[Request]:
        """The request that loads it, as long as the ``with`` block runs.

        Raises:
            CommandError: there is nothing to load.
        """
        raise CommandError(f"{self.text} cannot be run", "give a model on both sides")
        yield request
