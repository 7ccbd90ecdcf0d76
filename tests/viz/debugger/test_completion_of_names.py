"""What Tab offers."""

from __future__ import annotations

import pytest

from gradtool.viz.debugger import verbs
from gradtool.viz.debugger.completion import OFFERS, complete
from gradtool.viz.debugger.notebook import Notebook
from tests.viz.debugger.frontend_runs import book_over, hunt, recorded, said


@pytest.fixture(scope="module")
def book() -> Notebook:
    notebook = book_over(recorded(hunt))
    said(notebook, "import math", "size = np.arange(3)", "fork guard", "catch nan")
    return notebook


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("con", ["continue"]),
        ("goto sq", ["sqrt_grad.0", "sqrt.0", "sqrt_grad", "sqrt"]),
        ("break op:sq", ["op:sqrt", "op:sqrt_grad", "op:sqrt.0", "op:sqrt_grad.0"]),
        ("break line:frontend_", ["line:frontend_runs.py:"]),
        ("p x", ["x", "x@GRAD"]),
        ("set z@", ["z@GRAD"]),
        ("switch g", ["guard"]),
        ("compare base g", ["guard"]),
        ("delete ", ["1"]),
        ("catch b", ["big="]),
        ("help ste", ["step"]),
        ("export i", ["ipynb"]),
        ("rerun 1", ["1"]),
        ('v["z', ["z", "z@GRAD"]),
        ('set x = v["z', ["z", "z@GRAD"]),
        ("watch v['z", ["z", "z@GRAD"]),
        ('ins["Out@', ["Out@GRAD"]),
        ("math.isf", ["isfinite"]),
        ("size.arg", ["argmax", "argmin"]),
        ("cur.fw", ["fwd"]),
        ("expect np.isfi", ["isfinite"]),
        ("siz", ["size"]),
        ("no.such.thing", []),
        ("p ipnn", []),
        ("1 + ", []),
    ],
)
def test_what_may_stand_there(book: Notebook, line: str, offered: list[str]) -> None:
    start, offers = complete(book, line)
    assert all(f.startswith(line[start:]) for f in offers)
    for wanted in offered:
        assert any(f.startswith(wanted) for f in offers), offers
    assert offered or not offers


def test_every_verb_completes_from_something_known() -> None:
    assert {v.completes for v in verbs.table().values()} <= {"", "file", *OFFERS}


def test_looking_at_attributes_changes_nothing(book: Notebook) -> None:
    before = book.session.cursor, len(book.session.branch.edits), book.number
    complete(book, "size.")
    complete(book, "cur.ins.")
    assert before == (book.session.cursor, len(book.session.branch.edits), book.number)
