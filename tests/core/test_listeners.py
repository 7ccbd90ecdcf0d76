"""Listeners that are joined hear what they are marked for, in their order."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import Any

import pytest

from gradtool.engine.answers.over_time.of_tape import TapeCourse
from gradtool.engine.answers.training.frozen_statistics import FrozenStatistics
from gradtool.engine.answers.training.growing_graphs import Growth
from gradtool.engine.answers.training.leftover_gradients import Mixing
from gradtool.engine.answers.training.modes import Modes
from gradtool.engine.answers.training.scaled_gradients import Scalings
from gradtool.engine.answers.training.unread_gradients import Unread
from gradtool.engine.answers.training.updates import Updates
from gradtool.engine.core import watch
from gradtool.engine.core.listeners import handles, join


def test_each_is_called_in_order_and_one_true_answer_counts() -> None:
    heard: list[tuple[str, object]] = []

    def first(event: object) -> bool:
        heard.append(("first", event))
        return True

    @handles(int)
    def second(event: object) -> None:
        heard.append(("second", event))

    joined = join(join(first, second), None)
    assert joined is not None
    assert joined("a")
    assert joined(True)  # a bool is an int
    assert heard == [("first", "a"), ("first", True), ("second", True)]


def test_one_alone_is_called_for_its_events_only() -> None:
    heard: list[object] = []

    @handles(int)
    def listen(event: object) -> None:
        heard.append(event)

    alone = join(None, listen)
    assert alone is not None
    assert alone("a") is alone(1) is None
    assert heard == [1]
    assert join(heard.append, None) == heard.append


def test_nobody_is_joined_to_nobody() -> None:
    assert join(None, None) is None


def test_a_marked_class_and_a_marked_method() -> None:
    class Both:
        def __init__(self) -> None:
            self.heard: list[object] = []

        @handles(str)
        def step(self, event: object) -> None:
            self.heard.append(event)

        @handles(int)
        def __call__(self, event: object) -> None:
            self.heard.append(event)

    both = Both()
    joined = join(both.step, both)
    assert joined is not None
    assert not any([joined("a"), joined(1), joined(2.0)])
    assert both.heard == ["a", 1]


@pytest.mark.parametrize("kind", [FrozenStatistics, Growth, Mixing, Modes, Scalings, Updates, Unread, TapeCourse])
@pytest.mark.parametrize("method", ["__call__", "step"])
def test_the_mark_names_each_class_that_the_listener_compares_with(kind: Any, method: str) -> None:
    function = vars(kind).get(method)
    if function is None:
        assert method == "step"
        return
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    compared = {
        node.attr
        for statement in ast.walk(ast.Module(tree.body[0].body, []))  # type: ignore[attr-defined]
        for node in [statement]
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "watch"
    }
    assert function.handles
    assert compared <= {k.__name__ for k in function.handles}
    assert all(vars(watch)[k.__name__] is k for k in function.handles)
