"""From a model to its picture: what is shown, how it is coloured, and in which form it comes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradtool.engine.core.source import Location
from gradtool.engine.view.graph import BACKWARD, BOTH, FORWARD, GraphView
from gradtool.models.errors import CommandError
from gradtool.models.program_model import ProgramModel
from gradtool.models.tape_model import TapeModel
from gradtool.viz import fold, forms

from .context import Output

if TYPE_CHECKING:
    from gradtool.models.measures import Stopwatch
    from gradtool.viz.details import Details
    from gradtool.viz.legend import Colouring

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
        model: ProgramModel | TapeModel,
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
            form: a name of ``forms.NAMED``.

        Raises:
            CommandError: Graphviz is needed and missing.
        """
        how, view = self._options, self._folded(forms.NAMED[form])
        subject = forms.Drawable(
            view,
            colour=lambda: _coloured(view, how["color"], self._values),
            explain=self._details,
            file=(self._out.file or "graph.dot").replace("\\", "/").rsplit("/", 1)[-1],
            command=self._command,
            ascii=self._out.ascii,
            note=self._out.note,
        )
        drawn = None
        if how["layout"] == "dot" and forms.NAMED[form].placed:
            drawn = _by_dot(subject, form, how["limit"])
        return _drawn(subject, form) if drawn is None else drawn

    def _folded(self, form: forms.Form) -> GraphView:
        """What is shown, folded as far as the options ask for."""
        how = self._options["fold"]
        before = len(self._view.drawn())
        view = fold.fold(self._view, fold.NONE if form.whole and how == fold.AUTO else how, self._options["max_nodes"])
        after = len(view.drawn())
        if after < before:
            self._out.note(f"{before} nodes folded into {after}; --collapse none draws them all")
        return view

    def _details(self) -> Details:
        from gradtool.viz.details import details

        norms = self._options["color"] == "norm"
        return details(
            self._whole,
            self._locations,
            {node: {"norm": value} for node, value in self._values.items()} if norms else {},
        )


def _graph(
    model: ProgramModel | TapeModel, options: dict[str, Any], seed: int, out: Output, stopwatch: Stopwatch | None
) -> tuple[GraphView, list[Location], dict[str, float]]:
    """The view of everything, where its operators were called, and what was measured."""
    measure = options["color"] if options["color"] in ("norm", "time", "bytes") else None
    if isinstance(model, TapeModel):
        from gradtool.models.tape_model import recorded

        from .eager_files import refuse_selectors

        refuse_selectors(options)
        graph = recorded(model)
        if measure is None:
            return graph.view, list(graph.locations), {}
        from gradtool.models import measures

        if stopwatch is not None:
            return graph.view, list(graph.locations), measures.times(model, graph, stopwatch)
        return graph.view, list(graph.locations), measures.of_tape(model, graph, measure)
    from gradtool.engine.view.from_program import view
    from gradtool.models import backward_part

    part = backward_part.append(model, options["params"], options["no_grad"], out)
    found = view(model.program, title=model.name, loss=model.loss, gradients=dict(part.pairs))
    locations = [op.loc for block in model.program.blocks for op in block.ops]
    if measure is None:
        return found, locations, {}
    from gradtool.models import measures

    return found, locations, measures.of_program(model, measure, options["feed"], seed, out)


def _shown(view: GraphView, options: dict[str, Any]) -> GraphView:
    found = view.only(PARTS[options["part"]])
    if not options["path_"] and not options["focus"]:
        return found
    from gradtool.models.view_selectors import select
    from gradtool.viz import excerpt

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


def _by_dot(subject: forms.Drawable, form: str, limit: float) -> str | bytes | None:
    """The picture as Graphviz's ``dot`` lays it out; None, with a note, where it cannot."""
    from gradtool.viz.external import GraphvizError, draw
    from gradtool.viz.render import dot

    text = dot.render(
        subject.scene, file=subject.file, command=subject.command, colouring=subject.colouring, placed=False
    )
    if form == "dot":
        return text
    try:
        made = draw(text, form, program="dot", seconds=limit)
    except GraphvizError as error:
        subject.note(f"{error.message} The mirror layout is drawn instead.")
        return None
    return made.decode("utf-8") if form == "svg" else made


def _drawn(subject: forms.Drawable, form: str) -> str | bytes:
    from gradtool.viz.external import GraphvizError

    try:
        return forms.NAMED[form].draw(subject)
    except GraphvizError as error:
        raise CommandError(error.message, error.hint) from None
