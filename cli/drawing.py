"""From a model to its picture: what is shown, how it is coloured, and in which form it comes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradtool.engine.core.source import Location
from gradtool.engine.view.graph import BACKWARD, BOTH, FORWARD, GraphView
from gradtool.viz import fold
from gradtool.viz.mirror.layout import mirror

from .context import Output
from .discovery import Model
from .eager_model import EagerModel
from .errors import CommandError

if TYPE_CHECKING:
    from gradtool.viz.legend import Colouring

    from .measures import Stopwatch

WHOLE = ("html", "json", "text")
"""Forms that show everything unless they are asked to fold: people and programs fold and search there themselves."""

PARTS = {"fwd": FORWARD, "bwd": BACKWARD, "both": BOTH}


class Drawing:
    """What is shown of a model, to be rendered in one form or several.

    Args:
        command: what the picture says it was made by.
        stopwatch: what listened while the model was loaded, for ``--color time``.

    Raises:
        CommandError: a selector selects nothing.
    """

    def __init__(
        self,
        model: Model | EagerModel,
        options: dict[str, Any],
        seed: int,
        command: str,
        out: Output,
        stopwatch: Stopwatch | None = None,
    ) -> None:
        self._options, self._command, self._out = options, command, out
        self._whole, self._locations, self._values = _graph(model, options, seed, out, stopwatch)
        self._view = _shown(self._whole, options)

    def render(self, form: str) -> str | bytes:
        """The picture, as text or as bytes.

        Args:
            form: ``dot``, ``svg``, ``png``, ``pdf``, ``html``, ``json``, ``mermaid`` or ``text``.

        Raises:
            CommandError: Graphviz is needed and missing.
        """
        options, out, values = self._options, self._out, self._values
        before = len(self._view.drawn())
        how = fold.NONE if form in WHOLE and options["fold"] == fold.AUTO else options["fold"]
        view = fold.fold(self._view, how, options["max_nodes"])
        after = len(view.drawn())
        if after < before:
            out.note(f"{before} nodes folded into {after}; --collapse none draws them all")
        if form in ("json", "mermaid", "text"):
            return _text(view, form, out)
        colouring = _coloured(view, options["color"], values)
        scene = mirror(view, notes=colouring.notes if colouring is not None else None)
        file = (out.file or "graph.dot").replace("\\", "/").rsplit("/", 1)[-1]
        if options["layout"] == "dot":
            made = _by_dot(scene, form, file, self._command, colouring, options["limit"], out)
            if made is not None:
                return made
        if form == "html":
            from gradtool.viz.details import details
            from gradtool.viz.render import html

            norms = {node: {"norm": value} for node, value in values.items()} if options["color"] == "norm" else {}
            return html.render(scene, details=details(self._whole, self._locations, norms), colouring=colouring)
        if form == "svg":
            from gradtool.viz.render import svg

            return svg.render(scene, colouring=colouring, command=self._command)
        from gradtool.viz.render import dot

        text = dot.render(scene, file=file, command=self._command, colouring=colouring)
        return text if form == "dot" else _graphviz(text, form)


def _text(view: GraphView, form: str, out: Output) -> str:
    """The forms that need no places."""
    if form == "json":
        from gradtool.viz.render import json

        return json.render(view)
    if form == "mermaid":
        from gradtool.viz.render import mermaid

        for note in mermaid.notes(view):
            out.note(note)
        return mermaid.render(view)
    from gradtool.viz.render import text

    return text.render(view, ascii=out.ascii)


def _graph(
    model: Model | EagerModel, options: dict[str, Any], seed: int, out: Output, stopwatch: Stopwatch | None
) -> tuple[GraphView, list[Location], dict[str, float]]:
    """The view of everything, where its operators were called, and what was measured."""
    measure = options["color"] if options["color"] in ("norm", "time", "bytes") else None
    if isinstance(model, EagerModel):
        from .eager_files import refuse_selectors
        from .eager_table import recorded

        refuse_selectors(options)
        graph = recorded(model)
        if measure is None:
            return graph.view, list(graph.locations), {}
        from . import measures

        if stopwatch is not None:
            return graph.view, list(graph.locations), measures.times(model, graph, stopwatch)
        return graph.view, list(graph.locations), measures.of_tape(model, graph, measure)
    from gradtool.engine.view.from_program import view

    from . import backward_part

    part = backward_part.append(model, options["params"], options["no_grad"], out)
    found = view(model.program, title=model.name, loss=model.loss, gradients=dict(part.pairs))
    locations = [op.loc for block in model.program.blocks for op in block.ops]
    if measure is None:
        return found, locations, {}
    from . import measures

    return found, locations, measures.of_program(model, measure, options["feed"], seed, out)


def _shown(view: GraphView, options: dict[str, Any]) -> GraphView:
    found = view.only(PARTS[options["part"]])
    if not options["path_"] and not options["focus"]:
        return found
    from gradtool.viz import excerpt

    from .view_selectors import select

    if options["path_"]:
        a, dots, b = options["path_"].partition("..")
        if not dots or not a or not b:
            raise CommandError(f"--path {options['path_']}: expected A..B", "for example --path x..loss")
        found = excerpt.path(found, select(found, "--path", a), select(found, "--path", b))
        if not found.nodes:
            raise CommandError(f"--path: no way leads from {a} to {b}", f"arrows run from sources on; try {b}..{a}")
    if options["focus"]:
        found = excerpt.focus(found, select(found, "--focus", options["focus"]), options["radius"])
    return found


def _coloured(view: GraphView, by: str, values: dict[str, float]) -> Colouring | None:
    if by == "role":
        return None
    from gradtool.viz import colour

    if by == "dtype":
        return colour.by_dtype(view)
    if by == "layer":
        return colour.by_layer(view)
    if by == "norm":
        return colour.by_value(
            view,
            values,
            "norm of the gradient",
            lambda v: f"‖·‖ {v:.3g}",
            colour.root_of_squares,
            lambda n: n.part == BACKWARD,
        )
    if by == "bytes":
        return colour.by_value(view, values, "bytes written", colour.amount)
    return colour.by_value(view, values, "time of the operator", colour.duration)


def _by_dot(
    scene: Any, form: str, file: str, command: str, colouring: Colouring | None, limit: float, out: Output
) -> str | bytes | None:
    """The picture as Graphviz's ``dot`` lays it out; None, with a note, where it cannot."""
    from gradtool.viz.external import GraphvizError, draw
    from gradtool.viz.render import dot

    text = dot.render(scene, file=file, command=command, colouring=colouring, placed=False)
    if form == "dot":
        return text
    try:
        made = draw(text, form, program="dot", seconds=limit)
    except GraphvizError as error:
        out.note(f"{error.message} The mirror layout is drawn instead.")
        return None
    return made.decode("utf-8") if form == "svg" else made


def _graphviz(text: str, form: str) -> bytes:
    from gradtool.viz.external import GraphvizError, draw

    try:
        return draw(text, form)
    except GraphvizError as error:
        raise CommandError(error.message, error.hint) from None
