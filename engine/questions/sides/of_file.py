"""Sides that are files with an outline: golden files, and dumps of a graph."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import ClassVar, Final

from ...answers.diff import golden, outline_json
from ...answers.diff.outline import Outline
from ...core.command_errors import CommandError, Unreadable
from ...core.errors import FileFormatError
from ...core.notes import Notes
from ...request.request import Request
from .side import PICTURES, RESOURCES, VALUES, Side, SideAnswer, SideRequest

_GRAPH_ALONE: Final = "backward_graph.dot"
"""How the name of a file ends that every dump has, Paddle's too."""


class _OfFile(Side):
    """A file with an outline: a graph, and nothing that could be run."""

    lacks: ClassVar = {
        VALUES: (
            "{text} holds a graph and no values",
            "--values compares models, and saved sessions of gradtool debug",
        ),
        PICTURES: ("{text} holds a graph as text, and no picture", "pictures compare two models"),
        RESOURCES: ("{text} holds a graph as text, which cannot be run", "give a model on both sides"),
    }

    def seen(self, wanted: SideRequest, request: Request, notes: Notes) -> SideAnswer:
        """As in the base."""
        return SideAnswer(dataclasses.replace(self._outline(), title=self.title))

    def _outline(self) -> Outline:
        raise NotImplementedError


class Golden(_OfFile):
    """A file that ``--write-golden`` or ``check --update`` wrote."""

    @classmethod
    def claims(cls, text: str) -> bool:
        """As in the base."""
        return text.endswith(golden.ENDING)

    def _outline(self) -> Outline:
        return golden.read(_text(self.text), self.title)


class DumpSide(_OfFile):
    """A folder of ``gradtool graph --dump`` or ``dump_backward_graph_path``, or a file with an outline in it."""

    @classmethod
    def claims(cls, text: str) -> bool:
        """As in the base."""
        return text.endswith(outline_json.ENDING) or bool(_names(text, _GRAPH_ALONE))

    @property
    def title(self) -> str:
        """As in the base."""
        return (
            super().title if self.text.endswith(outline_json.ENDING) else os.path.basename(os.path.abspath(self.text))
        )

    def _outline(self) -> Outline:
        file = self._file()
        try:
            return outline_json.read(_text(file), file)
        except FileFormatError as error:
            raise CommandError(error.message, error.hint) from None

    def _file(self) -> str:
        if self.text.endswith(outline_json.ENDING):
            return self.text
        outlines = _names(self.text, outline_json.ENDING)
        if not outlines:
            raise CommandError(
                f"{self.text} holds drawings of graphs and no {outline_json.ENDING}; "
                "drawings have no slots and no attributes",
                "gradtool graph --dump DIR MODEL writes one, and so does a backward pass with dump_backward_graph_path",
            )
        if len(outlines) > 1:
            raise CommandError(
                f"{self.text} holds {len(outlines)} dumps: which one?",
                f"the last one is {os.path.join(self.text, outlines[-1])}",
            )
        return os.path.join(self.text, outlines[0])


def _names(folder: str, ending: str) -> list[str]:
    """The files of a folder whose names end so, sorted: the stamps before them make that the order of time."""
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(ending))
    except OSError:
        return []


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise Unreadable(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Unreadable(f"{path} is no text in UTF-8") from None
