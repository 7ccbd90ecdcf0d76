"""A case that has only PyTorch's graph answers every question that a case of a program answers."""

from __future__ import annotations

import inspect

from gradtool.engine.answers.why.case import Case
from gradtool.engine.answers.why.graph_case import GraphCase


def test_what_the_gate_asks_of_a_case_both_answer() -> None:
    asked = {name for name, method in inspect.getmembers(GraphCase, inspect.isfunction) if not name.startswith("_")}
    assert asked <= set(dir(Case))


def test_a_graph_lists_no_lost_terms_and_no_lost_uses() -> None:
    case = GraphCase([], "loss")
    assert case.find_lost_terms() == []
    assert case.find_lost_uses() == []
