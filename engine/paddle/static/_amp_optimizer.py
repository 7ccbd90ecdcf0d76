"""``static.amp.decorate``: an optimizer that scales the loss.

On the CPU Paddle has no operators of narrow types that it would choose, whatever its lists say: it inserts no cast and
keeps every parameter as it is. What remains of mixed precision there is the scaled loss, and that is what is done here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from gradtool.engine.core.errors import ArgumentTypeError, LossError, UsageError
from gradtool.engine.ir import build, default, roles
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.transaction import restore_on_failure
from gradtool.engine.ir.variable import Variable
from gradtool.engine.ops import registry
from gradtool.paddle import _parameters
from gradtool.paddle.optimizer._around import OptimizerAround

from ._amp_lists import AutoMixedPrecisionLists, narrow


class NotMinimized(UsageError, AssertionError):
    """Error for a value that exists only after ``minimize``, requested before it (Paddle raises AssertionError)."""


class OptimizerWithMixedPrecision(OptimizerAround):
    """An optimizer whose gradients are those of a scaled loss, divided by the scale; made by :func:`decorate`.

    Whatever is not listed here is that of the optimizer inside (``get_lr``, ``state_dict``, …).
    """

    def __init__(self, optimizer: Any, amp_lists: AutoMixedPrecisionLists, settings: dict[str, Any]) -> None:
        super().__init__(optimizer)
        self._amp_lists = amp_lists
        self._settings = settings
        self._scaling: Variable | None = None
        self._scaled: Variable | None = None

    def amp_init(self, place: Any, scope: Any = None, test_program: Any = None, use_fp16_test: bool = False) -> None:
        """Make parameters narrow where Paddle would: on the CPU none."""

    def get_loss_scaling(self) -> Variable:
        """The variable with the scale.

        Raises:
            NotMinimized: before ``minimize`` (an AssertionError).
        """
        if self._scaling is None:
            raise NotMinimized("Please call minimize() before calling get_loss_scaling().")
        return self._scaling

    def get_scaled_loss(self) -> Variable | None:
        """The loss times the scale; None before ``minimize``."""
        return self._scaled

    def minimize(
        self,
        loss: Variable,
        startup_program: Program | None = None,
        parameter_list: Sequence[Variable | str] | None = None,
        no_grad_set: Iterable[Variable | str] | None = None,
    ) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """Append the backward part of the scaled loss and the updates; see ``Optimizer.minimize``."""
        if not isinstance(loss, Variable):
            raise ArgumentTypeError(f"minimize: loss must be a Variable, but received {type(loss).__name__}.")
        main, startup = loss.block.program, startup_program or default.default_startup_program()
        before = self._scaling, self._scaled
        try:
            with restore_on_failure(main, startup), default.program_guard(main, startup):
                pairs = self.backward(loss, startup, parameter_list, no_grad_set)
                return self.apply_gradients(pairs), pairs
        except BaseException:
            self._scaling, self._scaled = before
            raise

    def backward(
        self,
        loss: Variable,
        startup_program: Program | None = None,
        parameter_list: Sequence[Variable | str] | None = None,
        no_grad_set: Iterable[Variable | str] | None = None,
        callbacks: Sequence[Callable[..., Any]] | None = None,
    ) -> list[tuple[Any, Any]]:
        """The first half of :meth:`minimize`: pairs of parameters and gradients of the scaled loss."""
        with default.program_guard(loss.block.program, startup_program or default.default_startup_program()):
            if not loss.dtype.is_floating:
                raise LossError(f"decorate: the loss '{loss.name}' is {loss.dtype.name}.", variable=loss.name)
            self._scaling = _counter("loss_scaling", self._settings["init_loss_scaling"], "float32")
            if self._settings["use_dynamic_loss_scaling"]:
                self._steps = [_counter(f"num_{kind}_steps", 0, "int32") for kind in ("good", "bad")]
            self._scaled = self._scaled_by(loss, self._scaling)
            pairs = self._optimizer.backward(self._scaled, startup_program, parameter_list, no_grad_set, callbacks)
        return list(pairs)

    def _scaled_by(self, loss: Variable, scaling: Variable) -> Any:
        """The loss itself where nothing scales it."""
        if not self._unscales:
            return loss
        block = loss.block
        name = block.program.names("tmp")
        op = registry.get_by_type("elementwise_mul")
        return build.emit(block, op, (loss, scaling), {"axis": -1}, [name], role=roles.LOSS).outputs[0]

    @property
    def _unscales(self) -> bool:
        return bool(self._settings["use_dynamic_loss_scaling"] or self._settings["init_loss_scaling"] != 1.0)

    def apply_gradients(self, params_grads: Sequence[tuple[Any, Any]]) -> list[Any]:
        """The second half of :meth:`minimize`: divide gradients by the scale, follow what is not finite, and update."""
        if self._unscales and params_grads:
            self._unscale([gradient for _, gradient in params_grads])
        return list(self._optimizer.apply_gradients(params_grads))

    apply_optimize = minimize

    def _unscale(self, gradients: list[Variable]) -> None:
        scaling = self.get_loss_scaling()
        block = default.current_block()
        settings = self._settings
        name = block.program.names(f"{settings['found']}.tmp")
        op = registry.get_by_type("check_finite_and_unscale")
        outputs: list[Any] = [list(gradients), name]
        checked = build.emit(block, op, (tuple(gradients), scaling), {}, outputs, role=roles.OPTIMIZE)
        checked.role_var = tuple(g.name for g in gradients)
        if not settings["use_dynamic_loss_scaling"]:
            return
        good, bad = self._steps
        op = registry.get_by_type("update_loss_scaling")
        attrs = {n: settings[n] for n in op.defaults if n in settings}
        inputs = (tuple(gradients), block.var(name), scaling, good, bad, None)
        build.emit(block, op, inputs, attrs, [list(gradients), scaling, good, bad], role=roles.OPTIMIZE)


def _counter(key: str, value: float, dtype: str) -> Variable:
    name = default.default_main_program().names(key)
    return _parameters.create_global_var([1], value, dtype, persistable=True, name=name)


OF_PURE = ("use_pure_fp16", "use_fp16_guard", "use_bf16")
"""Arguments of Paddle's older signature, which has other defaults."""
OLD: dict[str, Any] = {
    "init_loss_scaling": 2.0**15,
    "incr_every_n_steps": 1000,
    "decr_every_n_nan_or_inf": 2,
    "incr_ratio": 2.0,
    "decr_ratio": 0.8,
    "use_dynamic_loss_scaling": True,
    "use_pure_fp16": False,
    "use_fp16_guard": None,
    "use_bf16": False,
}
NEW: dict[str, Any] = {
    "level": "O1",
    "dtype": "float16",
    "master_weight": None,
    "master_grad": False,
    "init_loss_scaling": 2.0**16,
    "incr_every_n_steps": 2000,
    "decr_every_n_nan_or_inf": 1,
    "incr_ratio": 2.0,
    "decr_ratio": 0.5,
    "use_dynamic_loss_scaling": None,
    "use_amp_guard": False,
    "use_promote": False,
}


def decorate(
    optimizer: Any, amp_lists: AutoMixedPrecisionLists | None = None, **settings: Any
) -> OptimizerWithMixedPrecision:
    """*optimizer* with a scaled loss, in the forms of Paddle's two signatures.

    Args:
        amp_lists: kept; on the CPU no operator is computed in a narrow type, as in Paddle.
        level: ``'O0'``, ``'OD'``, ``'O1'`` or ``'O2'``; dtype: ``'float16'`` or ``'bfloat16'``.
        init_loss_scaling: the scale at the beginning.
        incr_every_n_steps, incr_ratio: after so many good steps in a row the scale grows by that factor.
        decr_every_n_nan_or_inf, decr_ratio: after so many steps with NaN or infinity it falls by that one.
        use_dynamic_loss_scaling: whether it changes at all; None for yes with float16.
        use_pure_fp16, use_fp16_guard, use_bf16: of the older signature, whose defaults are others.

    Raises:
        UsageError: an unknown level or dtype (a ValueError).
        ArgumentTypeError: an argument that neither signature has (a TypeError).

    >>> from gradtool import paddle
    >>> paddle.enable_static()
    >>> with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
    ...     loss = paddle.mean(paddle.static.nn.fc(paddle.static.data("x", [4, 3]), 2))
    ...     sgd = paddle.static.amp.decorate(paddle.optimizer.SGD(0.1), init_loss_scaling=128.0)
    ...     updates, pairs = sgd.minimize(loss)
    ...     sgd.get_loss_scaling().name
    'loss_scaling_0'
    """
    defaults = OLD if any(name in settings for name in OF_PURE) else NEW
    for name in settings:
        if name not in defaults:
            raise ArgumentTypeError(f"decorate() got an unexpected keyword argument '{name}'")
    chosen = {**defaults, **settings}
    if chosen.get("level", "O1") not in ("O0", "OD", "O1", "O2"):
        raise UsageError("level should be O0, OD, O1 or O2.")
    dtype = narrow(chosen.get("dtype", "bfloat16" if chosen.get("use_bf16") else "float16"))
    if chosen["use_dynamic_loss_scaling"] is None:
        chosen["use_dynamic_loss_scaling"] = dtype == "float16"
    pure = chosen.get("level") in ("O2",) or bool(chosen.get("use_pure_fp16")) or dtype == "bfloat16"
    chosen["found"] = "find_infinite_scale_fp32" if pure else "find_infinite_scale"
    lists = amp_lists if amp_lists is not None else AutoMixedPrecisionLists(dtype=dtype)
    return OptimizerWithMixedPrecision(optimizer, lists, chosen)
