"""From a model to its picture: what is shown, how it is coloured, and in which form it comes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.core.notes import SILENT, Notes
from gradtool.engine.core.records import dataclass
from gradtool.engine.core.wording import command_line
from gradtool.engine.kinds.about import ModelGraph
from gradtool.engine.kinds.viewing import select
from gradtool.engine.questions.picture import PictureAnswer
from gradtool.engine.view.graph import BACKWARD, BOTH, FORWARD, GraphView

from .. import excerpt, fold, forms
from ..details import Details, details
from ..external import GraphvizError, draw
from ..legend import Colouring

PARTS = {"fwd": FORWARD, "bwd": BACKWARD, "both": BOTH}
LIMIT = 20.0
"""Seconds that Graphviz gets to find places by itself."""


@dataclass(frozen=True, kw_only=True)
class Look:
    """Look of a picture.

    Attributes:
        part: ``fwd``, ``bwd`` or ``both``.
        fold: ``auto``, ``none``, ``layer`` or ``repeat``; *max_nodes* is what ``auto`` folds for.
        focus, radius: what is near an operator or tensor, in operators.
        path: ``A..B``, what lies between two of them.
        layout: ``mirror``, or ``dot`` for Graphviz's own places, found within *dot_limit* seconds.
        color: what fills say.
        ascii: no character outside ASCII, in text.
    """

    part: str = "both"
    fold: str = fold.AUTO
    max_nodes: int = 400
    focus: str | None = None
    radius: int = 2
    path: str | None = None
    layout: str = "mirror"
    dot_limit: float = LIMIT
    color: str = "role"
    ascii: bool = False

    @classmethod
    def take(cls, values: dict[str, Any], **more: Any) -> Look:
        """Take the look out of a command's *values*."""
        return cls(**{f.name: values.pop(f.name) for f in fields(cls) if f.name not in more}, **more)

    @property
    def words(self) -> list[str]:
        """The same as words of a command line."""
        usual, words = Look(), list[str]()
        for name, option in _OPTIONS.items():
            value = getattr(self, name)
            if value != getattr(usual, name):
                words += [option, str(value)]
        return words

    @property
    def measure(self) -> str | None:
        """Measurement that the fills need."""
        return self.color if self.color in ("norm", "time", "bytes") else None


_OPTIONS = {
    "part": "--part",
    "fold": "--collapse",
    "max_nodes": "--max-nodes",
    "focus": "--focus",
    "radius": "--radius",
    "path": "--path",
    "layout": "--layout",
    "dot_limit": "--dot-limit",
    "color": "--color",
}
"""What the command line calls the fields that commands in pictures repeat."""


class Drawing:
    """View of a model, to be rendered in one form or several.

    Args:
        file: the name that the picture will be stored under.
        command: what the picture says it was made by.

    Raises:
        CommandError: a selector selects nothing.
    """

    def __init__(
        self, picture: PictureAnswer, look: Look, *, file: str = "graph.dot", command: str = "", notes: Notes = SILENT
    ) -> None:
        self._picture, self._look, self._file, self._command, self._notes = picture, look, file, command, notes
        self._view = _select_part(picture.graph.view, look)

    def render(self, form: str) -> str | bytes:
        """The picture, as text or as bytes.

        Args:
            form: a name of ``forms.NAMED``.

        Raises:
            CommandError: Graphviz is needed and missing.
        """
        look, view = self._look, self._fold(forms.NAMED[form])
        subject = forms.Drawable(
            view,
            colour=lambda: _choose_colours(view, look.color, self._picture.values),
            explain=self._details,
            file=self._file.replace("\\", "/").rsplit("/", 1)[-1],
            command=self._command,
            ascii=look.ascii,
            note=self._notes.note,
        )
        drawn = None
        if look.layout == "dot" and forms.NAMED[form].placed:
            drawn = _draw_by_dot(subject, form, look.dot_limit)
        return _draw(subject, form) if drawn is None else drawn

    def _fold(self, form: forms.Form) -> GraphView:
        """Return what is shown, folded as far as the options request."""
        how = fold.NONE if form.whole and self._look.fold == fold.AUTO else self._look.fold
        before = self._view.visible_count
        view = fold.fold(self._view, how, self._look.max_nodes)
        after = view.visible_count
        if after < before:
            self._notes.note(f"{before} nodes folded into {after}; --collapse none draws them all")
        return view

    def _details(self) -> Details:
        graph, values = self._picture.graph, self._picture.values
        norms = {node: {"norm": value} for node, value in values.items()} if self._look.color == "norm" else {}
        return details(graph.view, list(graph.locations), norms)


def as_dot(graph: ModelGraph, path: str, part: str, words: Sequence[str]) -> str:
    """Return the text that ``--dot`` writes to *path*.

    Args:
        words: those that ask again about the same model.
    """
    from ..mirror.layout import mirror
    from ..render import dot

    file = path.replace("\\", "/").rsplit("/", 1)[-1]
    command = command_line("gradtool", "backward", *words, "--dot", file)
    return dot.render(mirror(graph.view.only(PARTS[part])), file=file, command=command)


def _select_part(view: GraphView, look: Look) -> GraphView:
    shown = view.only(PARTS[look.part])
    if not look.path and not look.focus:
        return shown
    if look.path:
        a, dots, b = look.path.partition("..")
        if not dots or not a or not b:
            raise CommandError(f"--path {look.path}: expected A..B", "for example --path x..loss")
        shown = excerpt.path(shown, select(shown, "--path", a), select(shown, "--path", b))
        if not shown.nodes:
            raise CommandError(f"--path: no way leads from {a} to {b}", f"arrows run from sources on; try {b}..{a}")
    return excerpt.focus(shown, select(shown, "--focus", look.focus), look.radius) if look.focus else shown


def _choose_colours(view: GraphView, by: str, values: Mapping[str, float]) -> Colouring | None:
    if by == "role":
        return None
    from .. import colour

    if by == "dtype":
        return colour.colour_by_dtype(view)
    if by == "layer":
        return colour.colour_by_layer(view)
    if by == "norm":
        return colour.colour_by_value(
            view,
            values,
            "norm of the gradient",
            lambda v: f"‖·‖ {v:.3g}",
            colour.root_of_squares,
            lambda n: n.part == BACKWARD,
        )
    if by == "bytes":
        return colour.colour_by_value(view, values, "bytes written", colour.amount)
    return colour.colour_by_value(view, values, "time of the operator", colour.duration)


def _draw_by_dot(subject: forms.Drawable, form: str, limit: float) -> str | bytes | None:
    """The picture as Graphviz's ``dot`` lays it out; None, with a note, where it cannot."""
    from ..render import dot

    text = dot.render(subject.scene, file=subject.file, command=subject.command, colouring=subject.fills, placed=False)
    if form == "dot":
        return text
    try:
        made = draw(text, form, program="dot", seconds=limit)
    except GraphvizError as error:
        subject.note(f"{error.message} The mirror layout is drawn instead.")
        return None
    return made.decode("utf-8") if form == "svg" else made


def _draw(subject: forms.Drawable, form: str) -> str | bytes:
    try:
        return forms.NAMED[form].draw(subject)
    except GraphvizError as error:
        raise CommandError(error.message, error.hint) from None
