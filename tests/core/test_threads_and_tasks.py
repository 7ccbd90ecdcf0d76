"""What threads and async tasks have for themselves, by the table in docs/threads.md."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

from gradtool import paddle
from gradtool.engine.core import state
from gradtool.paddle import static


@pytest.fixture(autouse=True)
def settings() -> Iterator[None]:
    paddle.disable_static()
    with state.keep_state():
        yield
    paddle.disable_static()


def in_thread(function: Callable[[], Any]) -> Any:
    """What *function* gives in a thread of its own."""
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


class Worker:
    """A thread that calls one function after another."""

    def __init__(self) -> None:
        self.ready, self.asked = threading.Semaphore(0), threading.Semaphore(0)
        self.function: Callable[[], Any] | None = None
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self) -> None:
        while True:
            self.asked.acquire()
            if self.function is None:
                return
            self.result = self.function()
            self.ready.release()

    def call(self, function: Callable[[], Any] | None) -> Any:
        self.function = function
        self.asked.release()
        if function is None:
            return self.thread.join()
        assert self.ready.acquire(timeout=20)
        return self.result


@contextmanager
def worker() -> Iterator[Callable[[Callable[[], Any]], Any]]:
    thread = Worker()
    try:
        yield thread.call
    finally:
        thread.call(None)


# -- mode -------------------------------------------------------------------------------------------------------------


def test_a_thread_begins_in_the_mode_of_the_main_thread() -> None:
    assert in_thread(paddle.in_dynamic_mode)
    paddle.enable_static()
    assert in_thread(paddle.in_static_mode) is True
    assert in_thread(lambda: type(static.data("x", [2]) + 1).__name__) == "Variable"
    paddle.disable_static()
    assert in_thread(paddle.in_static_mode) is False
    assert in_thread(lambda: (paddle.ones([2]) + 1).tolist()) == [2.0, 2.0]


def test_a_thread_keeps_the_mode_that_it_began_with() -> None:
    with worker() as call:
        assert call(paddle.in_dynamic_mode)
        paddle.enable_static()
        assert call(paddle.in_dynamic_mode)
        assert call(lambda: (paddle.ones([2]) + 1).tolist()) == [2.0, 2.0]


def test_a_thread_switches_for_itself() -> None:
    paddle.enable_static()
    with worker() as call:
        call(paddle.disable_static)
        assert call(paddle.in_dynamic_mode)
        assert paddle.in_static_mode()
        assert in_thread(paddle.in_static_mode)
    paddle.disable_static()
    with worker() as call:
        call(paddle.enable_static)
        assert call(paddle.in_static_mode)
        assert paddle.in_dynamic_mode()
        assert in_thread(paddle.in_dynamic_mode)


def test_operators_that_come_first_in_a_thread() -> None:
    """Whatever is called first asks for the mode."""
    paddle.enable_static()
    assert in_thread(lambda: paddle.full([1], 2.0).shape) == (1,)
    assert in_thread(lambda: paddle.nn.Linear(2, 2).weight.name).startswith("linear_")
    paddle.disable_static()
    x = paddle.ones([2])
    for operate in (lambda: x + x, lambda: paddle.tanh(x), lambda: paddle.add(x, x), lambda: x.reshape([1, 2])):
        assert isinstance(in_thread(operate), paddle.Tensor)


def test_a_task_switches_for_itself() -> None:
    async def other(go: asyncio.Event, done: asyncio.Event) -> bool:
        await go.wait()
        mode = paddle.in_dynamic_mode()
        done.set()
        return mode

    async def main() -> tuple[bool, bool, bool]:
        go, done = asyncio.Event(), asyncio.Event()
        waiting = asyncio.create_task(other(go, done))
        await asyncio.sleep(0)
        paddle.enable_static()
        go.set()
        await done.wait()
        return await waiting, paddle.in_static_mode(), await asyncio.to_thread(paddle.in_static_mode)

    assert asyncio.run(main()) == (True, True, True)
    assert paddle.in_dynamic_mode()


# -- recording --------------------------------------------------------------------------------------------------------


def test_a_thread_begins_with_recording() -> None:
    with paddle.no_grad():
        assert in_thread(paddle.is_grad_enabled)
        assert in_thread(lambda: (paddle.to_tensor([1.0], stop_gradient=False) * 2).stop_gradient) is False
    with worker() as call:
        call(lambda: paddle.set_grad_enabled(False))
        assert call(paddle.is_grad_enabled) is False
        assert paddle.is_grad_enabled()
        assert in_thread(paddle.is_grad_enabled)


def test_tasks_do_not_see_each_others_no_grad() -> None:
    async def quiet(inside: asyncio.Event, leave: asyncio.Event) -> bool:
        with paddle.no_grad():
            inside.set()
            await leave.wait()
            return paddle.is_grad_enabled()

    async def main() -> tuple[bool, bool]:
        inside, leave = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(quiet(inside, leave))
        await inside.wait()
        outside = paddle.is_grad_enabled()
        leave.set()
        return outside, await task

    assert asyncio.run(main()) == (True, False)


def test_no_grad_may_be_left_in_another_context() -> None:
    """As where a notebook runs every cell in a copy of the context."""
    import contextvars

    guard = paddle.no_grad()
    contextvars.copy_context().run(guard.__enter__)
    contextvars.copy_context().run(guard.__exit__, None, None, None)
    assert paddle.is_grad_enabled()


# -- programs and scopes ----------------------------------------------------------------------------------------------

GUARDS: dict[str, tuple[Callable[[Any], AbstractContextManager[Any]], Callable[[], Any], Callable[[], Any]]] = {
    "program": (static.program_guard, static.default_main_program, static.Program),
    "startup": (
        lambda p: static.program_guard(static.default_main_program(), p),
        static.default_startup_program,
        static.Program,
    ),
    "scope": (static.scope_guard, static.global_scope, static.Scope),
}
GUARD = pytest.mark.parametrize(("guard", "current", "make"), GUARDS.values(), ids=GUARDS)


@GUARD
def test_without_guards_there_is_one_for_the_process(guard: Any, current: Any, make: Any) -> None:
    assert in_thread(current) is current()
    assert in_thread(lambda: in_thread(current)) is current()


@GUARD
def test_threads_are_inside_the_guards_of_the_main_thread(guard: Any, current: Any, make: Any) -> None:
    usual, outer, inner = current(), make(), make()
    with worker() as call:
        with guard(outer):
            assert call(current) is outer
            with guard(inner):
                assert call(current) is inner
            assert call(current) is outer
        assert call(current) is usual


@GUARD
def test_guards_of_a_thread_are_its_own(guard: Any, current: Any, make: Any) -> None:
    usual, own, mine = current(), make(), make()
    with worker() as call:
        entered = guard(own)
        call(entered.__enter__)
        assert (call(current), current()) == (own, usual)
        with guard(mine):
            assert (call(current), current()) == (own, mine)
        call(lambda: entered.__exit__(None, None, None))
        assert call(current) is usual


@GUARD
def test_guards_of_a_task_are_its_own(guard: Any, current: Any, make: Any) -> None:
    usual, first, second = current(), make(), make()

    async def use(value: Any, inside: asyncio.Event, leave: asyncio.Event) -> Any:
        with guard(value):
            inside.set()
            await leave.wait()
            return current()

    async def main() -> list[Any]:
        events = [asyncio.Event() for _ in range(4)]
        one = asyncio.create_task(use(first, *events[:2]))
        await events[0].wait()
        two = asyncio.create_task(use(second, *events[2:]))
        await events[2].wait()
        outside = current()
        events[1].set()  # the one that entered first leaves first
        left = await one
        events[3].set()
        return [outside, left, await two, current(), in_thread(current)]

    assert asyncio.run(main()) == [usual, first, second, usual, usual]


def test_a_program_is_built_by_several_threads() -> None:
    paddle.enable_static()
    program = static.Program()
    with static.program_guard(program):
        for name in ("a", "b"):
            in_thread(lambda name=name: static.data(name, [2]))
    assert sorted(v.name for v in program.list_vars()) == ["a", "b"]


def test_name_scopes() -> None:
    paddle.enable_static()
    with static.program_guard(static.Program()), static.name_scope("part"):
        x = static.data("x", [2])
        assert in_thread(lambda: paddle.tanh(x).op.scope) == paddle.tanh(x).op.scope == "/part/"


def test_switching_a_default_program_inside_and_outside_guards() -> None:
    from gradtool.engine.ir import default

    usual, other, guarded = static.default_main_program(), static.Program(), static.Program()
    assert default.switch_main_program(other) is usual
    try:
        assert in_thread(static.default_main_program) is other
        with static.program_guard(guarded):
            assert default.switch_main_program(usual) is guarded
            assert in_thread(static.default_main_program) is usual
        assert static.default_main_program() is other
    finally:
        default.switch_main_program(usual)
    assert in_thread(static.default_main_program) is usual


# -- one for the process ----------------------------------------------------------------------------------------------


def test_the_default_dtype_is_one() -> None:
    paddle.set_default_dtype("float64")
    assert in_thread(paddle.get_default_dtype) == "float64"
    in_thread(lambda: paddle.set_default_dtype("float32"))
    assert paddle.get_default_dtype() == "float32"


def test_random_numbers_are_one_stream() -> None:
    paddle.seed(3)
    numbers = [paddle.rand([1]).item() for _ in range(2)]
    paddle.seed(3)
    assert [paddle.rand([1]).item(), in_thread(lambda: paddle.rand([1]).item())] == numbers
    in_thread(lambda: paddle.seed(3))
    assert paddle.rand([1]).item() == numbers[0]


def test_unique_names_are_one_series() -> None:
    with paddle.utils.unique_name.guard("part_"):
        names = [paddle.utils.unique_name.generate("k"), in_thread(lambda: paddle.utils.unique_name.generate("k"))]
    assert names == ["part_k_0", "part_k_1"]
