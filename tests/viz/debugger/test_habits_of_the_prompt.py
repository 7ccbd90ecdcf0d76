"""What a person who is new to the debugger stumbles over: names, columns, edits that change nothing, wrong words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradtool import paddle
from gradtool.engine.runs.recorder import Recorder
from gradtool.viz.debugger import show
from gradtool.viz.debugger.notebook import Notebook
from gradtool.viz.debugger.saved import comparison, writer
from gradtool.viz.debugger.saved.reader import load
from gradtool.viz.text import to_ascii
from tests.viz.debugger.frontend_runs import book_over, hunt, lowered, recorded, said


def many_results(recorder: Recorder) -> dict[str, Any]:
    """Operators with several results, of which the tape holds some, in another order."""
    scores = paddle.to_tensor([[1.0, 2.0, 4.0], [3.0, 0.0, 1.0]], stop_gradient=False)
    label = paddle.to_tensor([[1], [0]])
    norm = paddle.nn.LayerNorm(3)
    with recorder.record():
        loss = paddle.nn.functional.softmax_with_cross_entropy(norm(scores), label).mean()
        loss.backward()
    return {"scores": scores, "loss": loss}


class Wasteful(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx: Any, pair: list[Any]) -> Any:
        return pair[0] * pair[1]

    @staticmethod
    def backward(ctx: Any, dout: Any) -> Any:
        return [dout, dout * 2]


def wasteful(recorder: Recorder) -> dict[str, Any]:
    """A backward that makes a gradient which nobody asked for."""
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    mask = paddle.to_tensor([0.0, 1.0])
    with recorder.record():
        loss = Wasteful.apply([x, mask]).sum()
        loss.backward()
    return {"x": x, "loss": loss}


def two_lines() -> tuple[Any, dict[str, Any]]:
    """A static program without layers."""
    x = paddle.static.data("x", [2, 3])
    h = paddle.tanh(paddle.static.nn.fc(x, 3))
    return paddle.mean(paddle.exp(h)), {"x": [[1, 2, 3], [4, 5, 6]]}


def six_weights(recorder: Recorder) -> dict[str, Any]:
    net = paddle.nn.Sequential(*(paddle.nn.Linear(2, 2) for _ in range(3)))
    with recorder.record():
        loss = net(paddle.ones([1, 2])).sum()
        loss.backward()
    return {"loss": loss}


def deep(recorder: Recorder) -> dict[str, Any]:
    x = paddle.to_tensor([1.0], stop_gradient=False)
    with recorder.record():
        h = x
        for _ in range(60):
            h = h * 1.01
        h.backward()
    return {"x": x}


def test_results_are_called_as_their_gradients_are() -> None:
    book = book_over(recorded(many_results))
    values = book.session.timeline.values
    shapes = {v.name: book.session.branch.value(n).shape for n, v in enumerate(values) if v.name}
    assert shapes["layer_norm.0"] == shapes["layer_norm.0@GRAD"] == (2, 3)
    assert shapes["layer_norm.0.Mean"] == (2,)
    assert shapes["softmax_with_cross_entropy.0[0]"] == shapes["softmax_with_cross_entropy.0[0]@GRAD"] == (2, 1)
    assert shapes["softmax_with_cross_entropy.0[1]"] == (2, 3)
    assert "layer_norm.0.Mean" in said(book, "list 50")


@pytest.mark.parametrize("build", [hunt, many_results, wasteful, six_weights])
def test_no_result_is_without_a_name(build: Callable[[Recorder], dict[str, Any]]) -> None:
    book = book_over(recorded(build))
    for row in said(book, "list 90").split("\n"):
        assert not row.endswith("→"), row
        assert "→  " not in row
    assert all(book.session.timeline.values[n].name for e in book.session.timeline.entries for _, n in e.outs if n >= 0)


def test_next_goes_by_lines_where_there_are_no_layers() -> None:
    book = book_over(lowered(two_lines))
    first = book.session.entry("exp_grad")
    book.execute("goto exp_grad")
    assert said(book, "next").startswith("▶")
    now = book.session.current
    assert now is not None
    assert now.loc[0][1] != first.loc[0][1]
    assert now.type == "tanh_grad"
    said(book, "rnext")
    assert book.session.current is first


def test_an_edit_that_nothing_reads_says_so() -> None:
    book = book_over(recorded(hunt))
    text = said(book, "finish", "set z@GRAD = 0")
    assert "0 ops now stale" in text
    assert "nothing to come reads it: sqrt_grad.0 is done · goto sqrt_grad.0 first" in text
    assert "nothing to come" not in said(book, "undo", "goto sqrt_grad.0", "set z@GRAD = 0")
    assert "nothing to come" not in said(book, "finish", "zero fc1.weight@GRAD"), "a result is read by the user"
    assert "the new value holds no numbers" in said(book, 'set h = "abc"')


def test_a_watch_that_cannot_be_computed_says_so() -> None:
    book = book_over(recorded(hunt))
    assert "for now VerbError: there is no tensor 'nosuch'" in said(book, "watch v['nosuch']")
    assert "for now" not in said(book, "watch v['h'].max()")


def test_many_differences_stand_below_each_other() -> None:
    book = book_over(recorded(six_weights))
    text = said(book, "fork b", "set loss@GRAD = 2", "goto reduce_sum_grad.0", "set loss@GRAD = 2", "compare base b")
    head, *rows = text.split("\n")
    assert head == "6 of 6 gradients differ"
    assert len(rows) == 6
    assert all("→" in row for row in rows)


def test_a_long_way_is_shown_at_both_ends() -> None:
    rows = said(book_over(recorded(deep)), "path x").split("\n")
    assert rows[0].endswith("60 operators")
    assert rows[21] == "  … 20 more operators"
    assert "scale_grad.59" in rows[-1]
    assert len(rows) == 42


def test_words_that_are_nearly_right() -> None:
    book = book_over(recorded(hunt))
    assert "there is no operator made by line 5." in said(book, "goto 5")
    assert "%5 is operator 5 of the run" in said(book, "goto 5")
    assert said(book, "g").startswith("<")  # the graph, as in expressions
    assert said(book, "where") == said(book, "stack")
    assert said(book, "goto sqrt_grad.0", "p dout").startswith("dout 3×4  ‖·‖")


def test_a_run_about_nothing() -> None:
    def constant() -> tuple[Any, dict[str, Any]]:
        x = paddle.static.data("x", [2])
        x.stop_gradient = False
        return paddle.mean(paddle.tanh(x)), {"x": [1, 2]}

    book = book_over(lowered(constant))
    assert said(book, "stats") == said(book, "fork a", "compare base a") == "the run is about no gradients"


def test_columns_begin_on_a_line_of_their_own() -> None:
    book = book_over(recorded(hunt))
    assert {line: show.gap(said(book, line)) for line in ("list", "stats", "hits", "branches", "mem")} == {
        "list": "\n",
        "stats": "\n",
        "hits": " ",
        "branches": " ",
        "mem": "\n",
    }
    for line in ("x h", "p h", "stats h", "catch nan", "c", "rc", "bt", "src"):
        assert show.gap(said(book, line)) == " ", line
    assert to_ascii(said(book, "p h")).startswith("h 3x4  norm ")


def test_a_replay_draws_no_file_again_and_compares_what_it_draws(tmp_path: Path) -> None:
    drawn = tmp_path / "near.svg"
    book: Notebook = book_over(recorded(hunt))
    said(book, f"graph -o {drawn}", "graph h")
    saved = load(writer.text(book), "s.jsonl")
    drawn.unlink()
    replay = comparison.check(saved, book_over(recorded(hunt)))
    assert replay.difference is None
    assert replay.kept == (1,)
    assert not drawn.exists()
