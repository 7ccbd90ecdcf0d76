"""Running averages of parameters in static programs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradtool import paddle
from gradtool.engine.core import state
from gradtool.engine.executor.executor import Executor
from gradtool.engine.ir import build, default, roles
from gradtool.engine.ir.program import Block, Program
from gradtool.engine.ir.variable import Variable
from gradtool.engine.ops import registry
from gradtool.paddle import _creation, _math, _parameters

from ._branches import cond

COUNTER = "@EMA_STEP_COUNTER@"


class ExponentialMovingAverage:
    """Averages of all trainable parameters of the default main program, in which old values count less and less.

    ``average = decay · average + (1 - decay) · parameter`` after each step, from 0 on; what :meth:`apply` puts in the
    parameters' places is that divided by ``1 - decay ** steps``, so that the beginning does not pull it towards 0.

    Args:
        decay: how much of the average stays in each step.
        thres_steps: a variable that counts: the decay is then at most ``(1 + thres_steps) / (10 + thres_steps)``.
        name: what the names of its variables begin with.

    >>> from gradtool import paddle
    >>> paddle.enable_static()
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     loss = paddle.mean(paddle.static.nn.fc(paddle.static.data("x", [4, 3]), 2))
    ...     pairs = paddle.optimizer.SGD(0.1).minimize(loss)
    ...     average = paddle.static.ExponentialMovingAverage(0.99)
    ...     average.update()
    """

    def __init__(self, decay: float = 0.999, thres_steps: Variable | None = None, name: str | None = None) -> None:
        state.require_static("ExponentialMovingAverage")
        self._name = name if name is not None else ""
        main = default.default_main_program()
        self._decay = self._decay_variable(decay, thres_steps)
        self._pairs: list[tuple[Variable, str]] = []
        for own in main.all_parameters():
            if own.trainable:
                held = main.names(f"{self._name}{own.name}.ema_tmp")
                own.block.create_var(held, (), own.dtype, stop_gradient=True)
                self._pairs.append((own, held))
        self._averages = {}
        for parameter, _ in self._pairs:
            with default.name_scope("moving_average"):
                self._averages[parameter.name] = _parameters.create_global_var(
                    parameter.shape,
                    0.0,
                    parameter.dtype,
                    persistable=True,
                    name=main.names(f"{self._name}{parameter.name}_ema"),
                )
        self.apply_program = self._applying()
        self.restore_program = self._restoring()

    def _decay_variable(self, decay: float, thres_steps: Variable | None) -> Variable:
        variable = _parameters.create_global_var(
            [1], float(decay), "float32", persistable=True, name="scheduled_ema_decay_rate"
        )
        if thres_steps is not None:
            ops = default.current_block().ops
            before = len(ops)
            steps = _creation.cast(thres_steps, "float32")
            rate = (steps + 1.0) / (steps + 10.0)
            _creation.assign(_math.minimum(rate, _creation.full([1], decay, "float32")), variable)
            for op in ops[before:]:
                op.role = roles.LR_SCHED
        return variable

    # -- programs that exchange parameters and averages -------------------------------------------------------------

    def _applying(self) -> Program:
        """Put the averages in the parameters' places, and keep these aside."""
        program = Program()
        block = program.global_block()
        with default.program_guard(program, Program()):
            steps = _creation.cast(
                block.create_var(COUNTER, (1,), "int64", stop_gradient=True, persistable=True), "float32"
            )
            rate = _twin(block, self._decay)
            rest = paddle.pow(rate, steps)
            for parameter, held in self._pairs:
                own = _twin(block, parameter)
                aside = block.create_var(held, parameter.shape, parameter.dtype, persistable=True)
                average = _twin(block, self._averages[parameter.name])
                _creation.assign(own, aside)
                _creation.assign(_corrected(average, rest, steps), own)  # type: ignore[arg-type]
        return program

    def _restoring(self) -> Program:
        """Put the parameters back."""
        program = Program()
        block = program.global_block()
        with default.program_guard(program, Program()):
            for parameter, held in self._pairs:
                aside = block.create_var(held, parameter.shape, parameter.dtype, persistable=True)
                _creation.assign(aside, _twin(block, parameter))
        return program

    # -- what users call ----------------------------------------------------------------------------------------------

    def update(self) -> None:
        """Append the operators that bring the averages up to date; call it once, after the optimizer's ``minimize``."""
        _count_steps()
        ops = default.current_block().ops
        for parameter, held in self._pairs:
            average = self._averages[parameter.name]
            before = len(ops)
            with default.name_scope("moving_average"):
                kept = average * self._decay
                _creation.assign(kept + parameter * (1 - self._decay), average)
            for op in ops[before:]:
                op.role, op.role_var = roles.OPTIMIZE, (parameter.name, held)

    @contextmanager
    def apply(self, executor: Executor, need_restore: bool = True) -> Iterator[None]:
        """Use the averages for parameters inside the ``with`` block.

        Args:
            need_restore: whether the parameters come back at its end.
        """
        executor.run(self.apply_program)
        try:
            yield
        finally:
            if need_restore:
                self.restore(executor)

    def restore(self, executor: Executor) -> None:
        """Bring the parameters back that ``apply(need_restore=False)`` put aside."""
        executor.run(self.restore_program)


def _corrected(average: Variable, rest: Any, steps: Variable) -> Any:
    return cond(steps > 0, lambda: average / (1.0 - rest), lambda: average)


def _twin(block: Block, v: Variable) -> Variable:
    """A variable of *block* that stands for the same value in the scope."""
    return block.create_var(v.name, v.shape, v.dtype, persistable=True)


def _count_steps() -> None:
    """Let the program count its runs at the beginning of each."""
    block = default.default_main_program().global_block()
    if COUNTER in block.vars:
        return
    counter = _parameters.create_global_var([1], 0, "int64", persistable=True, name=COUNTER)
    startup = default.default_startup_program().global_block()
    fill = registry.get_by_type("fill_constant")
    attrs = {**startup.ops[-1].attrs, "force_cpu": True}
    build.emit(startup, fill, (), attrs, [startup.vars[COUNTER]])
    block._prepend_op("increment", inputs={"X": [counter]}, outputs={"Out": [counter]}, attrs={"step": 1.0})
