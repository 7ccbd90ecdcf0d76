"""A variable without a value: which startup program was to give it one, and when that ran."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import UninitializedError

static = paddle.static


class Programs:
    """A main program with a layer, a startup program for it, and what runs them."""

    def __init__(self) -> None:
        self.main, self.startup = static.Program(), static.Program()
        self.exe = static.Executor()
        self.loss = self.add()

    def add(self) -> paddle.static.Variable:
        with static.program_guard(self.main, self.startup):
            x = static.data("x", [4, 2])
            return paddle.mean(static.nn.fc(x, 1))

    def run(self) -> None:
        self.exe.run(self.main, feed={"x": np.ones((4, 2), "float32")}, fetch_list=[self.loss])

    def minimize(self, startup: paddle.static.Program | None = None) -> None:
        paddle.optimizer.Momentum(0.1).minimize(self.loss, startup_program=startup)


def never_ran(p: Programs) -> None:
    """Run nothing."""


def ran_another(p: Programs) -> None:
    static.nn.fc(static.data("y", [4, 2]), 1, name="other")
    p.exe.run(static.default_startup_program())


def minimized_later(p: Programs) -> None:
    p.exe.run(p.startup)
    p.minimize(p.startup)


def minimized_into_the_default(p: Programs) -> None:
    p.exe.run(p.startup)
    p.minimize()


def layer_later(p: Programs) -> None:
    p.exe.run(p.startup)
    p.loss = p.add()


def other_scope(p: Programs) -> None:
    p.exe.run(p.startup, scope=static.Scope())


def ran_twice_and_grew(p: Programs) -> None:
    p.exe.run(p.startup)
    p.loss = p.add()
    p.exe.run(p.startup)
    p.minimize(p.startup)


HERE = r"test_reasons_for_missing_values\.py:\d+"
CASES: list[tuple[Callable[[Programs], None], str]] = [
    (never_ran, rf"the startup program that was in use at {HERE}, which initializes it, has not run"),
    (
        ran_another,
        rf"the default startup program ran at {HERE}, but the startup program that was in use at {HERE} init",
    ),
    (
        minimized_later,
        rf"in use at {HERE} ran at {HERE}, before minimize at {HERE} added 3 variables to it \(learning_r",
    ),
    (
        minimized_into_the_default,
        rf"another startup program ran at {HERE}, but the default startup program initializes",
    ),
    (
        layer_later,
        rf"in use at {HERE} ran at {HERE}, before the program at {HERE} added 2 variables to it \(fc_1\.w_0, f",
    ),
    (other_scope, rf"the startup program that was in use at {HERE} ran at {HERE}, but this scope has no value of it"),
    (
        ran_twice_and_grew,
        rf"ran at {HERE}, before minimize at {HERE} added 3 variables to it \(learning_rate_\d+, fc_1",
    ),
]


@pytest.mark.parametrize(("prepare", "reason"), CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_the_reason_names_the_program_and_the_lines(prepare: Callable[[Programs], None], reason: str) -> None:
    programs = Programs()
    prepare(programs)
    with pytest.raises(UninitializedError, match=reason):
        programs.run()


def test_a_clone_knows_the_startup_programs_of_its_original() -> None:
    programs = Programs()
    programs.main = programs.main.clone(for_test=True)
    with pytest.raises(UninitializedError, match="which initializes it, has not run"):
        programs.run()


def test_a_clone_for_tests_needs_nothing_that_minimize_added() -> None:
    programs = Programs()
    test = programs.main.clone(for_test=True)
    programs.exe.run(programs.startup)
    programs.minimize(programs.startup)
    programs.main = test
    programs.run()


def test_a_variable_that_nothing_initializes_is_to_be_loaded() -> None:
    block = static.default_main_program().global_block()
    w = block.create_parameter("w", [2], "float32")
    with pytest.raises(UninitializedError, match="no startup program initializes it"):
        static.Executor().run(fetch_list=[paddle.mean(w)])
