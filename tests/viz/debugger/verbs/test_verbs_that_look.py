"""Verbs that show operators and tensors, and verbs about the session, sensible and not."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool.viz.debugger import show, verbs
from gradtool.viz.debugger.notebook import Notebook
from tests.viz.debugger.frontend_runs import book_over, hunt, looping, lowered, own_python, recorded, said


@pytest.fixture
def book() -> Notebook:
    return book_over(recorded(hunt))


def test_list_shows_states_and_pairs(book: Notebook) -> None:
    text = said(book, "break op:sqrt_grad", "list 2")
    assert "▶" in text
    assert "sqrt_grad.0 → x@GRAD  ↔ sqrt.0" in text
    assert "●" in text
    assert len(said(book, "list 1").split("\n")) < len(text.split("\n"))
    assert "expected a number" in said(book, "list x")


def test_src_shows_the_line_with_its_pair(book: Notebook) -> None:
    text = said(book, "src sqrt_grad.0 2")
    assert text.startswith("sqrt_grad.0   frontend_runs.py:")
    assert "in hunt   backward, its pair is sqrt.0" in text
    assert "z = paddle.sqrt(x)" in text
    assert "↔ sqrt.0" in text
    assert len(said(book, "src sqrt_grad.0 4").split("\n")) > len(text.split("\n"))
    assert "there is no operator" in said(book, "src nothing")


def test_stack_names_the_users_frames(book: Notebook) -> None:
    text = said(book, "bt sqrt.0")
    assert text.split("\n")[0] == "sqrt.0"
    assert "in hunt" in text
    assert text.endswith("z = paddle.sqrt(x)")
    assert said(book, "stack sqrt.0") == text


def test_p_shows_numbers_and_slices(book: Notebook) -> None:
    assert said(book, "p x").startswith("x 3×4  ‖·‖ 0  zeros 12 of 12\n  [[0. 0. 0. 0.]\n   [0.")
    assert said(book, "p h[0, :2]").startswith("h[0, :2] 2 ")
    assert said(book, 'p v["h"].shape') == "(3, 4)"
    assert "there is no tensor 'zz'" in said(book, "p zz")
    assert "there is inp" in said(book, "p ipn")
    assert "p what?" in said(book, "p")
    assert "IndexError" in said(book, "p h[99]")
    assert np.array_equal(book.outputs[1], np.zeros((3, 4)))


def test_stats_of_a_tensor_and_of_gradients(book: Notebook) -> None:
    text = said(book, "stats h")
    assert text.startswith("h 3×4 float32\n  norm ")
    assert "zeros     0 of 12" in text
    table = said(book, "finish", "stats").split("\n")
    assert table[0].split()[:2] == ["gradient", "of"]
    assert any("✗ NaN 16/16" in row for row in table)
    assert "inf       12 of 12" in said(book, "stats x@GRAD")


def test_stats_draw_bars_in_proportion() -> None:
    rows = said(book_over(recorded(own_python)), "stats").split("\n")[1:]
    assert len(rows) == 4
    assert max(row.count("█") for row in rows) == 10


def test_hist_counts_orders_of_magnitude(book: Notebook) -> None:
    rows = said(book, "hist h").split("\n")[1:]
    assert sum(int(row.split()[1]) for row in rows) == 12
    assert all(row.split()[0].startswith("1e") for row in rows)
    assert said(book, "hist x").split("\n")[1].split()[:2] == ["0", "12"]
    assert said(book, "hist x@GRAD").split("\n")[1].split()[:2] == ["inf", "12"]


def test_top_gives_largest_elements_with_indices(book: Notebook) -> None:
    array = book.session.branch.value(book.session.number("h"))
    rows = said(book, "top h 3").split("\n")[1:]
    assert len(rows) == 3
    row, column = np.unravel_index(np.abs(array).argmax(), array.shape)
    assert rows[0].split("  ")[1] == f"[{row}, {column}]"
    assert float(rows[0].split()[-1]) == pytest.approx(array[row, column])
    assert "0 were asked for" in said(book, "top h 0")
    assert len(said(book, "top h 99").split("\n")) == 13
    assert "inf" in said(book, "top x@GRAD 1")


def test_x_tells_everything(book: Notebook) -> None:
    text = said(book, "x x")
    assert text.startswith("x  3×4  ‖·‖ 0  zeros 12 of 12 · float32 · 48 bytes · temporary")
    assert "made by elementwise_sub.0" in text
    assert "read by sqrt.0" in text
    summed = said(book, "x h@GRAD")
    assert "the sum of h@GRAD, h@GRAD#1" in summed
    assert "read by the sum below" in summed
    assert "E edited in this branch" in said(book, "goto sqrt_grad.0", "zero h", "x h")


def test_legend_explains_every_letter(book: Notebook) -> None:
    text = said(book, "legend")
    assert all(letter in text for letter in show.STATES)


def test_inside_shows_runs_of_a_block() -> None:
    book = book_over(lowered(looping))
    text = said(book, "inside while.0")
    assert text.startswith(
        "while.0: its block ran 4 times, iterations 1 to 4\n  iteration 1: 10 operators · tmp_0 3×4  ‖·‖ "
    )
    rows = said(book, "inside while.0 2").split("\n")
    assert rows[0] == "iteration 2 of while.0"
    assert any(row.startswith("  sqrt.0  frontend_runs.py:") for row in rows)
    assert "while.0 had no iteration 9: its block ran 4 times, iterations 1 to 4" in said(book, "inside while.0 9")
    assert "branch conditional_block.0" in said(book, "inside conditional_block.0")
    assert "its block did not run" in said(book, "inside conditional_block.1")
    assert said(book, "inside while_grad.0").startswith("while_grad.0: its block ran 4 times, iterations 4 to 1")
    assert "holds no block" in said(book, "inside exp.0")


def test_a_catch_on_a_loop_names_the_operator_inside() -> None:
    book = book_over(lowered(lambda: looping(0.9)))
    text = said(book, "catch nan", "goto %1", "c")
    assert "■ catch nan at ▶ 9/" in text
    assert "nan born inside: sqrt.0, iteration 2 of while.0   frontend_runs.py:" in text
    assert "paddle.sqrt(s - " in text
    assert "✗ nan born in sqrt.0 frontend_runs.py:" in said(book, "inside while.0")
    assert "✗ nan born here" in said(book, "inside while.0 2")


def test_expect_says_both_sides(book: Notebook) -> None:
    assert said(book, 'expect v["x"].sum() == 0') == 'as expected: v["x"].sum() == 0'
    cell, reply = book.execute('expect v["h"].shape == v["inp"].T.shape')
    assert reply.failed
    assert reply.error is None
    assert not cell.failed
    assert cell.text.split("\n")[1:] == ["    v['h'].shape = (3, 4)", "    v['inp'].T.shape = (4, 3)"]
    assert "false for 12 of 12 elements" in said(book, 'expect v["x"] > 0')
    assert "no Python expression" in said(book, "expect 1 +")
    assert "expect what?" in said(book, "expect")


def test_expect_error(book: Notebook) -> None:
    assert said(book, "expect-error p zz").startswith("as expected: there is no tensor 'zz'")
    _, reply = book.execute("expect-error p x")
    assert reply.failed
    assert "it said: x 3×4" in reply.text
    assert said(book, "expect-error set x = np.zeros(99)").startswith("as expected: x has shape [3, 4]")


def test_cells_notes_and_rerun(book: Notebook) -> None:
    said(book, "note the root of *nothing*", "p x", "n = 5")
    assert book.cells[0].note
    assert book.cells[0].source == "the root of *nothing*"
    text = said(book, "cells")
    assert "[1] note the root of *nothing*" in text
    assert "[2] p x   → x 3×4" in text
    assert said(book, "rerun 2") == book.cells[1].text
    assert said(book, "rerun 5 3") == book.cells[1].text
    assert "there is no cell 77" in said(book, "rerun 77")
    assert "there is no cell 8" in said(book, "rerun 8")
    assert "rerun which cells?" in said(book, "rerun")


def test_help_and_the_end(book: Notebook) -> None:
    assert said(book, "help bt").startswith("stack [OP] (also: bt, where)")
    assert "there is no verb 'setp'" in said(book, "help setp")
    assert not book.finished
    said(book, "quit")
    assert book.finished


@pytest.mark.sampled(4)
@pytest.mark.parametrize("verb", [v for v in verbs.table() if v not in ("quit", "save", "export")])
@pytest.mark.parametrize("rest", ["", "no such thing", "-1", "\x00", "[", "x@GRAD @@", "%999", "a b c d"])
def test_nonsense_leaves_the_session_as_it_was(verb: str, rest: str, book: Notebook) -> None:
    if verb in ("delete", "fork", "note", "expect-error") or (not rest and verb not in ("p", "until", "goto", "set")):
        cell, _ = book.execute(f"{verb} {rest}")
        assert cell.number == 1
        return
    names = dict(book.session.names)
    cell, reply = book.execute(f"{verb} {rest}")
    if reply.error is not None:
        assert cell.text.startswith("✗ ")
        assert cell.failed
        assert not book.session.branch.edits
        assert book.session.names == names
