"""``static.nn.control_flow.While``: a loop whose body is written in a ``with`` block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError, UsageError
from gradtool.engine.ir import blocks, default
from gradtool.engine.ir.holders import close_loop
from gradtool.engine.ir.transaction import append_or_nothing
from gradtool.engine.ir.variable import Variable
from gradtool.paddle._arguments import tensor


class While:
    """Repeats what is appended inside its :meth:`block` as long as the variable *cond* holds.

    Its body writes variables from outside in place (``assign(output=)``, ``increment``, ``array_write``), the condition
    among them; what they held before is gone. ``while_loop`` keeps it.

    Args:
        cond: a bool variable of one element.
        is_test: noted in the program.

    Raises:
        ArgumentTypeError: *cond* is no bool variable of one element (a TypeError).
        UsageError: the body never writes *cond* (a ValueError).

    >>> from gradtool import paddle
    >>> paddle.enable_static()
    >>> with paddle.static.program_guard(paddle.static.Program()):
    ...     i, n = paddle.zeros([1], "int64"), paddle.full([1], 3, "int64")
    ...     cond = paddle.less_than(i, n)
    ...     loop = paddle.static.nn.control_flow.While(cond)
    ...     with loop.block():
    ...         i = paddle.increment(i)
    ...         _ = paddle.assign(paddle.less_than(i, n), cond)
    ...     paddle.static.Executor().run(fetch_list=[i])
    [array([3])]
    >>> paddle.disable_static()
    """

    def __init__(self, cond: Any, is_test: bool = False, name: str | None = None) -> None:
        tensor(cond, "cond", "static.nn.While", ("bool",))
        if cond.spec.count not in (1, -1):
            raise ArgumentTypeError(f"condition expected shape as [1], but given shape as {list(cond.shape)}.")
        self.cond_var: Variable = cond
        self.is_test = is_test

    @contextmanager
    def block(self) -> Iterator[None]:
        """Append to the body of the loop inside the ``with``."""
        main = default.default_main_program()
        with append_or_nothing(main, default.default_startup_program()):
            parent, inside = main.current_block(), main._create_block()
            main.open_loops += 1
            try:
                yield
            finally:
                main.open_loops -= 1
                main._rollback()
            written = blocks.writes(inside)
            if all(v is not self.cond_var for v in written):
                raise UsageError(
                    f"static.nn.While: the body never writes '{self.cond_var.name}', so the loop would not end.",
                    hint="at its end, write the condition anew: paddle.assign(paddle.less_than(i, n), cond)",
                )
            close_loop(parent, inside, self.cond_var, self.is_test)
