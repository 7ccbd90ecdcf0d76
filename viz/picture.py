"""Pictures of graphs for programs and notebooks: ``gradtool.viz.graph`` and ``gradtool.viz.pairs``."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from html import escape
from typing import Any, Final

import numpy as np

from gradtool.engine.core.errors import ArgumentTypeError, UsageError, did_you_mean
from gradtool.engine.core.source import Location
from gradtool.engine.eager.parameter import parameters_at
from gradtool.engine.eager.recorded_calls import leaf_tensors
from gradtool.engine.eager.tensor import Leaf, Tensor
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.variable import Variable
from gradtool.engine.recorders import live
from gradtool.engine.view import from_program, from_tape
from gradtool.engine.view.graph import BOTH, PARTS, GraphView

from . import endings
from .details import Details, details, statistics
from .fold import FOLDS, fold
from .forms import BY_ENDING, NAMED, Drawable, Form
from .legend import legend_title
from .mirror.scene import Scene
from .notebook import present
from .render import text
from .table import TextTable

ValuesById = Mapping[str, Mapping[str, float]]

NOTEBOOK_SVG: Final = 400
"""Nodes up to which a notebook gets an SVG picture beside the HTML page."""

NOTEBOOK_PAGE: Final = 2500
"""Nodes up to which the page inside a notebook holds everything; beyond it, the folded graph: notebooks stay small."""

_HEIGHT: Final = 640


def graph(
    of: Any,
    *,
    part: str = BOTH,
    title: str = "",
    collapse: str = "auto",
    values: Mapping[str, Any] | None = None,
) -> Picture:
    """The picture of a graph.

    Args:
        of: a ``Program``; a variable of one, which is shown as the loss; a Tensor of dynamic mode, or several, whose
            recorded graph is shown.
        part: ``forward``, ``backward`` or ``both``.
        title: stands above the picture.
        collapse: how pictures of large graphs are folded: ``auto``, ``none``, ``layer`` or ``repeat``. The HTML page
            always holds everything; there it is the reader who folds.
        values: name -> array, whose norms the page then shows. In dynamic mode parameters and other leaves are known
            without it, with their gradients.

    Returns:
        A :class:`Picture`, which notebooks show as it stands.

    Raises:
        TypeError: *of* has no graph.
        ValueError: *part* or *collapse* is unknown.

    >>> from gradtool import paddle
    >>> from gradtool import viz
    >>> w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> print(viz.graph((w * w).sum()).text().splitlines()[-1])
    2 of 2 forward ops have a gradient op
    """
    for name, value, choices in (("part", part, PARTS), ("collapse", collapse, FOLDS)):
        if value not in choices:
            raise UsageError(
                f"viz.graph: {name} must be one of {', '.join(choices)}, but received {value!r}.",
                hint=did_you_mean(str(value), choices),
            )
    view, locations, known_values = _look_at(of, title)
    return Picture(
        view.only(part),
        locations=_locations_of_part(view, part, locations),
        collapse=collapse,
        values=lambda: {**known_values(), **_values_by_id(view, values or {})},
    )


def pairs(of: Any, *, title: str = "") -> TextTable:
    """Forward operators beside their gradient operators, with what is kept between them.

    Args:
        of, title: as for :func:`graph`.

    Returns:
        A table, which prints as text and which notebooks show as a table.
    """
    view = _look_at(of, title)[0]
    return TextTable(legend_title(view), *text.table(view))


class Picture:
    """A graph that can be shown, printed and saved.

    Attributes:
        view: everything in it, unfolded.
    """

    def __init__(
        self,
        view: GraphView,
        *,
        locations: Sequence[Location] = (),
        collapse: str = "auto",
        values: Callable[[], ValuesById] = dict,
    ) -> None:
        self.view = view
        self._locations = locations
        self._collapse = collapse
        self._values = values

    def __repr__(self) -> str:
        return f"<picture: {legend_title(self.view)}, {len(self.view.drawn())} nodes>"

    @cached_property
    def folded(self) -> GraphView:
        """The view as pictures that cannot be folded by their readers show it."""
        return fold(self.view, self._collapse)

    @cached_property
    def details(self) -> Details:
        """Call stacks, source text and values, as the HTML page shows them."""
        return details(self.view, self._locations, self._values())

    @cached_property
    def _whole(self) -> Drawable:
        return Drawable(self.view, explain=lambda: self.details)

    @cached_property
    def _drawable(self) -> Drawable:
        return self._whole if self.folded is self.view else Drawable(self.folded, explain=lambda: self.details)

    def _draw(self, form: Form) -> str | bytes:
        return form.draw(self._whole if form.whole else self._drawable)

    def _write(self, name: str) -> str:
        drawn = self._draw(NAMED[name])
        assert isinstance(drawn, str)
        return drawn

    def _paint(self, name: str) -> bytes:
        drawn = self._draw(NAMED[name])
        assert isinstance(drawn, bytes)
        return drawn

    @property
    def scene(self) -> Scene:
        """The folded view with places for everything."""
        return self._drawable.scene

    def text(self, *, ascii: bool = False) -> str:
        """Lines for a terminal: forward operators beside their gradient operators."""
        return text.render(self.view, ascii=ascii)

    def dot(self) -> str:
        """Text for Graphviz, with places."""
        return self._write("dot")

    def svg(self) -> str:
        """An SVG file."""
        return self._write("svg")

    def png(self) -> bytes:
        """A PNG file, drawn by Graphviz."""
        return self._paint("png")

    def pdf(self) -> bytes:
        """A PDF file, drawn by Graphviz."""
        return self._paint("pdf")

    def html(self) -> str:
        """An HTML file that needs nothing else, with search, collapsing, source and values."""
        return self._write("html")

    def json(self) -> str:
        """JSON for other programs."""
        return self._write("json")

    def mermaid(self) -> str:
        """A Mermaid flowchart."""
        return self._write("mermaid")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file, whole or not at all.

        Args:
            path: its ending says what is written (``forms.py``): ``.html``, ``.svg``, ``.dot``, ``.json``, ``.mmd``
                (Mermaid), ``.txt``, ``.png`` or ``.pdf``.

        Raises:
            ValueError: another ending.
            GraphvizError: a PNG or PDF file is asked for, and Graphviz is missing.
            OSError: the file cannot be written.
        """
        writers = {ending: partial(_as, form) for ending, form in BY_ENDING.items()}
        endings.save(self, path, writers, "graph.html")

    def show(self) -> None:
        """Show the picture: in a notebook below the cell, elsewhere as a page in the browser."""
        present(self, "graph.html")

    def _as_table(self) -> str:
        """Return the rest of the picture for viewers of notebooks that take frames out."""
        from .render.html import static

        return f"<details><summary>as a table</summary>{static(self.view)}</details>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """Return what notebooks show: an HTML page in a frame of its own; an SVG picture and text for those that
        cannot.
        """
        nodes = len(self.view.drawn())
        page = NAMED["html"].draw(self._whole if nodes <= NOTEBOOK_PAGE else self._drawable)
        assert isinstance(page, str)
        bundle = {"text/plain": self.text(), "text/html": embed_page(page) + self._as_table()}
        if nodes <= NOTEBOOK_SVG:
            bundle["image/svg+xml"] = self.svg()
        return bundle


def _as(form: Form, picture: Picture) -> str | bytes:
    return picture._draw(form)


def embed_page(page: str, title: str = "graph") -> str:
    """A page inside another one, from which it can reach nothing."""
    return (
        f'<iframe srcdoc="{escape(page)}" sandbox="allow-scripts" title="{escape(title)}" '
        f'style="width:100%;height:{_HEIGHT}px;border:1px solid #8888;border-radius:6px"></iframe>'
    )


# -- what can be drawn ------------------------------------------------------------------------------------------------

_Seen = tuple[GraphView, list[Location], Callable[[], ValuesById]]


def _look_at(of: Any, title: str) -> _Seen:
    """View, locations of the operators, and values that are known anyway."""
    if isinstance(of, Program):
        return _static(of, None, title)
    if isinstance(of, Variable):
        return _static(of.block.program, of, title)
    listed = list(of) if isinstance(of, (list, tuple)) else [of]
    tensors = [live.stand_in(t, differentiated=False) for t in listed]
    if not tensors or not all(isinstance(t, Tensor) for t in tensors):
        raise ArgumentTypeError(
            "viz.graph: expected a Program, a Variable, a Tensor or a list of Tensors, "
            f"but received {type(of).__name__}.",
            hint="viz.graph(loss)",
        )
    tape_graph = from_tape.graph(tensors, title=title)
    return tape_graph.view, list(tape_graph.locations), lambda: _leaf_values(tape_graph)


def _static(program: Program, loss: Variable | None, title: str) -> _Seen:
    locations = [op.loc for block in program.blocks for op in block.ops]
    return from_program.view(program, title=title, loss=loss), locations, dict


def _locations_of_part(view: GraphView, part: str, locations: list[Location]) -> list[Location]:
    ids = {n.id for n in view.only(part).nodes}
    operators = [n.id for n in view.nodes if n.kind == "op"]
    return [where for i, where in zip(operators, locations, strict=True) if i in ids]


def _leaf_values(tape_graph: from_tape.TapeGraph) -> ValuesById:
    """Statistics of the leaves of a tape, and of their gradients where they have some."""
    by_id = tape_graph.view.by_id()
    leaves = {place: i for i, place in tape_graph.places.items() if isinstance(place, Leaf)}
    tensors = leaf_tensors(tape_graph.nodes.values()) | parameters_at(set(leaves))
    values = {}
    for place, i in leaves.items():
        tensor = tensors.get(place)
        if tensor is None:
            continue
        values[i] = statistics(tensor.numpy())
        gradient = by_id[i].pair
        if tensor.grad is not None and gradient is not None:
            values[gradient] = statistics(np.asarray(tensor.grad.numpy()))
    return values


def _values_by_id(view: GraphView, values: Mapping[str, Any]) -> ValuesById:
    ids = {n.name: n.id for n in view.nodes}
    unknown = [name for name in values if name not in ids]
    if unknown:
        raise UsageError(
            f"viz.graph: values has {unknown[0]!r}, which the graph does not.", hint=did_you_mean(unknown[0], ids)
        )
    return {ids[name]: statistics(np.asarray(value)) for name, value in values.items()}
