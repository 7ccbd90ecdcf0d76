"""Sides that are saved sessions of the debugger: a run, with its values."""

from __future__ import annotations

import dataclasses
import shlex
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Final

from ...answers.diff import of_timeline
from ...core.command_errors import CommandError, Unreadable
from ...core.errors import FileFormatError
from ...core.notes import Notes
from ...core.wording import plain
from ...request.request import Request
from ...runs.of_session import read
from ...runs.timeline import Timeline
from .side import PICTURES, RESOURCES, Side, SideAnswer, SideRequest

_BEGINNING: Final = 200
"""Bytes in which a saved session says what it is."""


class SessionSide(Side):
    """A file that the debugger's verb ``save`` wrote: the run as it was recorded, without the edits of branches."""

    is_run: ClassVar = True
    lacks: ClassVar = {
        PICTURES: ("{text} holds a run, and no picture of its graph", "pictures compare two models"),
        RESOURCES: ("{text} holds a run that is over, which cannot be measured", "give a model on both sides"),
    }

    @classmethod
    def claims(cls, text: str) -> bool:
        """As in the base: by what stands in its first line."""
        try:
            with open(text, "rb") as file:
                return b'"gradtool/session/' in file.read(_BEGINNING)
        except (OSError, ValueError):
            return False

    @cached_property
    def _read(self) -> tuple[Timeline, str]:
        try:
            data = Path(self.text).read_bytes()
        except OSError as error:
            raise Unreadable(f"cannot read {self.text}: {error.strerror}") from None
        try:
            return read(data, self.text)
        except FileFormatError as error:
            raise CommandError(error.message, error.hint) from None

    @property
    def further(self) -> list[str]:
        """As in the base."""
        return ["gradtool", "debug", "--replay", self.text]

    @property
    def step(self) -> int | None:
        """Number of the backward pass of its file that it holds, if it was requested by its number."""
        words = shlex.split(self._read[1])
        number = words[words.index("--step") + 1] if "--step" in words[:-1] else ""
        return int(number) if number.isdecimal() else None

    def seen(self, wanted: SideRequest, request: Request, notes: Notes) -> SideAnswer:
        """As in the base."""
        run = self._read[0]
        if run.failed is not None:
            raise CommandError(
                f"{self.text} holds a run that raised: {str(run.failed[1]).splitlines()[0]}",
                "two runs that came to their end are compared",
            )
        outline = of_timeline.outline(run, plain)
        return SideAnswer(dataclasses.replace(outline, title=self.title), None, run)
