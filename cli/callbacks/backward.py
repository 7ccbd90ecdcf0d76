"""Callback of ``gradtool backward``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from gradtool.engine.kinds.about import ModelGraph
from gradtool.engine.questions.backward import Backward
from gradtool.engine.request.request import Request
from gradtool.viz.views import backward

from ..context import Output
from ..errors import CLEAN
from ..files import Content, make_folder
from ..queries import ask, find_exit_code, must_be_one, prepare_others


def run(values: dict[str, Any]) -> int:
    """Run the command; return its exit code."""
    out = Output.take(values)
    if values.pop("listed"):
        return _list(values, out)
    dot, folder, part, only_grads = (values.pop(name) for name in ("dot", "dump", "part", "only_grads"))
    exit_code = values.pop("exit_code")
    values["run"] |= exit_code or values["feed"] is not None  # zeros and numbers that are not finite are findings, too
    question = Backward.take(values)
    request = Request.take(values, full_stacks=folder is not None)
    if dot is None and folder is None and not only_grads:
        code = partial(find_exit_code, exit_code=exit_code)
        return ask(question, request, out, backward.view, code, exit_code, explained=True)
    must_be_one(request, "--dot, --dump and --only-grads")
    with prepare_others(request, question.feed, exit_code) as look:
        answer = question.ask(request, out)
    look(answer)
    words = [*answer.about.words, *question.words, *answer.checkpoint_words]
    files = pictures(answer.graph, words, dot, part, folder)
    if only_grads:
        out.text(backward.pairs_alone(answer, out.format), files)
    else:
        out.emit(backward.view(answer), files)
    return find_exit_code(answer, exit_code)


def _list(values: dict[str, Any], out: Output) -> int:
    """``--list``."""
    from gradtool.engine.questions.calls import list_calls
    from gradtool.viz.views import calls

    out.emit(calls.view(list_calls(Request.take(values), out)))
    return CLEAN


def pictures(
    graph: Callable[[], ModelGraph], words: list[str], dot: str | None, part: str, folder: str | None
) -> dict[str, Content]:
    """The files that ``--dot`` and ``--dump`` ask for.

    Args:
        words: those that ask again about the same model.
    """
    files: dict[str, Content] = {}
    if dot is not None:
        from gradtool.viz.views.picture import as_dot

        files[dot] = as_dot(graph(), "graph.dot" if dot == "-" else dot, part, words)
    if folder is not None:
        from gradtool.viz.views import dump

        make_folder(folder)
        files |= dump.files(graph(), folder)
    return files
