"""Base of all optimizers: from a loss to operators that update its parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

from gradtool.engine.core import names, source, state, watch
from gradtool.engine.core.errors import ArgumentTypeError, ElementTypeError, LossTypeError, UsageError, expect_type
from gradtool.engine.core.source import NOWHERE, Location
from gradtool.engine.core.spec import DType, float32, float64
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ir import build, default, roles
from gradtool.engine.ir.marking import mark
from gradtool.engine.ir.program import Block, Program
from gradtool.engine.ir.transaction import restore_on_failure
from gradtool.engine.ir.variable import SELECTED_ROWS, Parameter, Variable
from gradtool.engine.ops import registry
from gradtool.engine.ops.opdef import OpDef
from gradtool.paddle import _parameters
from gradtool.paddle.nn.clip import ClipGradBase
from gradtool.paddle.regularizer import WeightDecayRegularizer
from gradtool.paddle.utils import unique_name

from . import _steps
from ._schedule import note_schedule
from ._settings import FixedRateError, LossSizeError, as_regularizer, required
from .lr import LRScheduler

Pairs = list[tuple[Any, Any]]
"""Parameters with their gradients."""


class Accumulator(NamedTuple):
    """Something that an optimizer keeps for each parameter.

    Attributes:
        slot: the input slot of the update operator that takes it.
        name: its variable is called ``<param>_<name>_0``.
        fill: its value at first.
        single: it has one element instead of the parameter's shape.
        many: how many of the parameter's shape it holds, if it holds several.
        dtype: its type, where that is not the parameter's.
    """

    slot: str
    name: str
    fill: float = 0.0
    single: bool = False
    many: int | None = None
    dtype: str | None = None

    def shape(self, of: tuple[int, ...]) -> tuple[int, ...]:
        """The shape of what is kept for a parameter of the shape *of*."""
        one = (1,) if self.single else of
        return one if self.many is None else (self.many, *one)


class Optimizer(_steps.OptimizerSteps):
    """Base of all optimizers.

    Args:
        learning_rate: a float, or an :class:`LRScheduler`.
        parameters: what to update; in static mode all trainable parameters when None. Dynamic mode needs them.
            An entry may be a group: a dict with ``params``, and a ``learning_rate`` (a factor) and a ``weight_decay``
            for them.
        weight_decay: a coefficient (of an L2Decay) or a regularizer; a parameter's own one wins.
        grad_clip: a ``paddle.nn.ClipGradBy*``.
        name: part of the names of what the optimizer keeps.

    Raises:
        MissingSetting: no learning rate (a ValueError and an AssertionError).
        ArgumentTypeError: an argument of a wrong type (a TypeError).
        ElementTypeError: something in *parameters* that is no parameter, or no parameters in dynamic mode (an
            AttributeError).

    >>> from gradtool import paddle
    >>> x = paddle.create_parameter([1], "float32", default_initializer=paddle.nn.initializer.Constant(2.0))
    >>> sgd = paddle.optimizer.SGD(0.25, parameters=[x])
    >>> (x * x).sum().backward()
    >>> sgd.step()
    >>> x.tolist()
    [1.0]
    """

    op_type = ""
    """The update operator."""

    _group_settings: ClassVar[tuple[str, ...]] = ()
    """What a group of parameters may set beside its learning rate and decay."""

    def __init__(
        self,
        learning_rate: Any,
        parameters: Iterable[Any] | None = None,
        weight_decay: Any = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        self._where = f"paddle.optimizer.{type(self).__name__}"
        required("learning_rate", learning_rate)
        if isinstance(learning_rate, bool) or not isinstance(learning_rate, (float, LRScheduler)):
            raise ArgumentTypeError(
                f"learning rate should be float or LRScheduler, but received {type(learning_rate).__name__}.",
                hint=f"write {float(learning_rate)}" if isinstance(learning_rate, int) else None,
            )
        if grad_clip is not None and not isinstance(grad_clip, ClipGradBase):
            raise ArgumentTypeError(
                f"'grad_clip' in {self._where} must be a paddle.nn.ClipGradBy*, "
                f"but received {type(grad_clip).__name__}."
            )
        self._learning_rate = learning_rate
        self._groups: dict[Any, dict[str, Any]] = {}
        self._parameters = self._listed(parameters)
        self._decay = as_regularizer(weight_decay, self._where)
        self._grad_clip = grad_clip
        self._name = name
        self._rates: dict[Program, Variable] = {}
        self._made = _find_place()
        self._dtype: DType | None = self._parameters[0].dtype if self._parameters else None
        """The type of the learning rate's variable; None until a loss or a parameter says it."""
        self._states: dict[tuple[Any, str], Any] = {}
        self._multi_precision = False
        """Whether narrow parameters are kept in float32 besides, and updated there."""
        self._master_weights: dict[Any, Tensor] = {}
        self._checkpoints: Any = None
        """What a RecomputeOptimizer around this one keeps."""
        if watch.noting and self._parameters is not None:
            leaves = tuple([p for p in self._parameters if isinstance(p, Tensor)])
            if leaves or not self._parameters:  # a list that holds nothing trains nothing
                watch.note(watch.Listed(leaves))
            self._note_schedule()

    def _note_schedule(self) -> None:
        """Tell who watches that a schedule sets the learning rate."""
        if watch.noting and isinstance(self._learning_rate, LRScheduler):
            tensors = tuple([p for p in self._parameters or () if isinstance(p, Tensor)])
            note_schedule(self._learning_rate, tensors)

    def _listed(self, parameters: Iterable[Any] | None) -> list[Any] | None:
        static = state.in_static_mode()
        if parameters is None:
            if not static:
                raise ElementTypeError(
                    "parameters argument given to the Optimizer should not be None in dygraph mode.",
                    hint="write parameters=model.parameters()",
                )
            return None
        if isinstance(parameters, (AnyTensor, dict)) or not isinstance(parameters, Iterable):
            raise ArgumentTypeError(
                f"'parameters' in {self._where} must be a list of parameters, but received {type(parameters).__name__}."
            )
        entries: list[Any] = []
        for entry in parameters:
            group = self._group(entry) if isinstance(entry, dict) else {"params": [entry]}
            for p in group["params"]:
                if not isinstance(p, Parameter if static else Tensor):
                    raise ElementTypeError(
                        f"'parameters' in {self._where} must hold parameters, but received {type(p).__name__}."
                    )
                self._groups[p] = group
                entries.append(p)
        return entries

    def _group(self, entry: dict[str, Any]) -> dict[str, Any]:
        """A group of parameters with settings of its own, checked."""
        settings = ["params", "learning_rate", "weight_decay", *self._group_settings]
        if "params" not in entry or entry.keys() - {*settings}:
            raise UsageError(
                f"{self._where}: a group of parameters takes {', '.join(settings[:-1])} and {settings[-1]}, "
                f"but received {', '.join(map(str, entry))}.",
                hint="make an optimizer for each group with other settings",
            )
        params = entry["params"]
        if "learning_rate" in entry:
            expect_type(entry["learning_rate"], (int, float), "learning_rate", f"a group of {self._where}")
        return {**entry, "params": [params] if isinstance(params, AnyTensor) else list(params)}

    def _of_group(self, param: Any, setting: str, otherwise: Any) -> Any:
        """Return the value of *setting* in the group of *param*, if it has one."""
        return self._groups.get(param, {}).get(setting, otherwise)

    # -- what the kinds of optimizers differ in -------------------------------------------------------------------

    def _accumulators(self) -> Sequence[Accumulator]:
        """Return the accumulators of each parameter."""
        return ()

    def _settings(self, param: Any) -> dict[str, Any]:
        """Attributes of the update operator."""
        return {}

    def _decay_of(self, param: Any) -> WeightDecayRegularizer | None:
        """The regularizer that adds to the gradient of *param*."""
        decay = self._of_group(param, "weight_decay", self._decay)
        return getattr(param, "regularizer", None) or as_regularizer(decay, self._where)

    def _finish(self, pairs: Pairs) -> None:
        """Append what follows all updates: the growth of powers that the update operator leaves to others."""
        scale = registry.get_by_type("scale")
        accumulators = {k.slot: k for k in self._accumulators()}
        for slot, growth in self._grown().items():
            for p, g in pairs:
                power = self._state(p, accumulators[slot])
                home = home_of(power.block.program)
                with default.name_scope(self.op_type), mark(home, roles.OPTIMIZE, (p.name, g.name)):
                    build.emit(home, scale, (power, None, None), {"scale": growth}, [power])

    # -- the learning rate ----------------------------------------------------------------------------------------

    def get_lr(self) -> float:
        """The learning rate now."""
        rate = self._learning_rate
        return float(rate() if isinstance(rate, LRScheduler) else rate)

    def set_lr(self, value: float) -> None:
        """Change the learning rate (dynamic mode only).

        Raises:
            ModeError: static mode is on (an AssertionError).
            FixedRateError: a scheduler sets it (a RuntimeError).
            ArgumentTypeError: *value* is no number (a TypeError).
        """
        self._dynamic("set_lr")
        if isinstance(self._learning_rate, LRScheduler):
            raise FixedRateError(
                "optimizer's learning rate can't be LRScheduler when invoke this API, because this will lead to "
                "conflict.",
                hint="call set_lr_scheduler, or step() of the scheduler",
            )
        expect_type(value, (int, float), "value", f"{self._where}.set_lr")
        self._learning_rate = float(value)

    def set_lr_scheduler(self, scheduler: LRScheduler) -> None:
        """Let *scheduler* set the learning rate from now on (dynamic mode only)."""
        self._dynamic("set_lr_scheduler")
        expect_type(scheduler, LRScheduler, "scheduler", f"{self._where}.set_lr_scheduler")
        self._learning_rate = scheduler
        self._note_schedule()

    def _rate(self, program: Program) -> Variable:
        """The variable that holds the learning rate in *program*."""
        rate = self._rates.get(program)
        if rate is None:
            rate = _global_variable(program, "learning_rate", (), self.get_lr(), self._rate_dtype())
            self._rates[program] = rate
            rate.loc = self._made
            if isinstance(self._learning_rate, LRScheduler):
                program.live[rate.name] = self._learning_rate
        return rate

    def _rate_dtype(self) -> DType:
        """The type of the loss or of the first parameter; float32 for half precision."""
        default_dtype = state.default_dtype()
        if self._dtype is None:
            return default_dtype
        return self._dtype if self._dtype in (float32, float64, default_dtype) else float32

    def _factor(self, param: Any) -> float:
        """Return the factor of the learning rate of *param*: the factors in its ParamAttr and of its group."""
        own = getattr(param, "optimize_attr", {}).get("learning_rate", 1.0)
        return float(own * self._of_group(param, "learning_rate", 1.0))

    def _rate_of(self, param: Any, rate: Variable) -> Variable:
        """The learning rate of *param*: scaled by the factor in its ParamAttr."""
        factor = self._factor(param)
        if factor == 1.0:
            return rate
        home = home_of(rate.block.program)
        with default.name_scope("scale_with_param_lr"), mark(home, roles.OPTIMIZE | roles.LR_SCHED):
            scaled: Variable = rate * factor
            return scaled

    # -- static mode ----------------------------------------------------------------------------------------------

    def minimize(
        self,
        loss: Variable,
        startup_program: Program | None = None,
        parameters: Sequence[Variable | str] | None = None,
        no_grad_set: Iterable[Variable | str] | None = None,
    ) -> tuple[list[Any], Pairs]:
        """Append the backward part of *loss* and the updates of its parameters.

        In dynamic mode it only updates, as :meth:`step` does: ``loss.backward()`` comes before it.

        Args:
            loss: a variable of one element.
            startup_program: where the learning rate and the optimizer's state are initialised; the default one when
                None.
            parameters: what to update (parameters or names); those of the constructor when None or empty.
            no_grad_set: where gradients are cut, as for ``append_backward``.

        Returns:
            The operators that update, and ``(parameter, gradient)`` pairs with the gradients before clipping and
            decay.

        Raises:
            LossTypeError: *loss* is no Variable (an AssertionError).
            LossSizeError: it has several elements (an AssertionError).

        A call that fails leaves both programs as they were.
        """
        if isinstance(loss, Tensor):
            self._dynamic("minimize")
            pairs = self._gradients(parameters)
            self._stepped(pairs)
            return [], pairs
        self._static("minimize", loss)
        main, startup = loss.block.program, startup_program or default.default_startup_program()
        expect_type(startup, Program, "startup_program", f"{self._where}.minimize")
        states, rates = dict(self._states), dict(self._rates)
        try:
            with restore_on_failure(main, startup), default.program_guard(main, startup):
                pairs = self.backward(loss, startup, parameters, no_grad_set)
                return self.apply_gradients(pairs), pairs
        except BaseException:
            self._states, self._rates = states, rates
            raise

    def backward(
        self,
        loss: Variable,
        startup_program: Program | None = None,
        parameters: Sequence[Variable | str] | None = None,
        no_grad_set: Iterable[Variable | str] | None = None,
        callbacks: Sequence[Callable[..., Any]] | None = None,
    ) -> Pairs:
        """The first half of :meth:`minimize`: append the backward part and return ``(parameter, gradient)`` pairs."""
        if isinstance(loss, Tensor):
            self._dynamic("backward")
            return self._gradients(parameters)
        self._static("backward", loss)
        if loss.spec.count != 1:
            raise LossSizeError(
                f"The number of elements of loss should be 1, but the shape of '{loss.name}' is {list(loss.shape)}.",
                variable=loss.name,
                hint="reduce it, for example with paddle.mean",
            )
        self._dtype = loss.dtype
        from gradtool.engine.autodiff.backward import append_backward

        result: Any = append_backward(loss, parameters or self._parameters, no_grad_set, callbacks, self._checkpoints)
        pairs: Pairs = result[0] if isinstance(result, tuple) else result
        return pairs

    def apply_gradients(self, params_grads: Sequence[tuple[Any, Any]]) -> list[Any]:
        """The second half of :meth:`minimize`: append clipping, decay and updates, sorted by parameter name.

        Returns:
            The operators from the first update on.
        """
        if not state.in_static_mode():
            self._stepped(list(params_grads))
            return []
        pairs = sorted(params_grads, key=lambda pair: str(pair[0].name))
        program = pairs[0][0].block.program if pairs else default.default_main_program()
        block = home_of(program)
        with default.program_guard(program), default.append_to(block):
            with default.name_scope("gradient_clip"):
                if self._grad_clip is not None:
                    pairs = self._grad_clip(pairs)
            with default.name_scope("regularization"):
                pairs = [(p, self._with_decay(p, g)) for p, g in pairs]
            first = len(block.ops)
            rate = self._rate(program)
            for p, _ in pairs:
                for accumulator in self._accumulators():
                    self._state(p, accumulator)
            for p, g in pairs:
                with default.name_scope("optimizer"):
                    self._append_update(p, g, self._rate_of(p, rate))
            self._finish(pairs)
        return block.ops[first:]

    def _with_decay(self, param: Any, grad: Any) -> Any:
        """*grad* with the regularizer's term added to it in place; selected rows become a dense variable instead."""
        decay = self._decay_of(param)
        if decay is None:
            return grad
        with mark(grad.block, roles.OPTIMIZE, (param.name, grad.name)):
            term = decay(param, grad)
            total = grad if grad.kind != SELECTED_ROWS else names.dense(grad.name)
            build.emit(grad.block, registry.get_by_type("sum"), ((grad, term),), {}, [total])
        return grad if grad.kind != SELECTED_ROWS else grad.block.vars[total]

    def _state(self, param: Any, accumulator: Accumulator) -> Any:
        """The variable that holds *accumulator* for *param*."""
        value = self._states.get((param, accumulator.name))
        if value is None:
            key = f"{param.name}_{self._name}_{accumulator.name}" if self._name else f"{param.name}_{accumulator.name}"
            if isinstance(param, Tensor):
                self._states[param, accumulator.name] = value = _steps.new_state(key, param, accumulator)
                return value
            shape, kind = accumulator.shape(param.shape), accumulator.dtype or param.dtype
            value = _global_variable(param.block.program, key, shape, accumulator.fill, kind)
            value.stop_gradient = False
            self._states[param, accumulator.name] = value
        return value

    def _append_update(self, param: Any, grad: Any, rate: Variable) -> None:
        op = registry.get_by_type(self.op_type)
        operands = self._operands(op, param, grad, rate)
        block = home_of(param.block.program)
        inputs = tuple(operands.get(s.name) for s in op.inputs)
        outputs = [operands.get(_steps.source_of(s.name)) for s in op.outputs]
        with mark(block, roles.OPTIMIZE, (param.name, grad.name)):
            build.emit(block, op, inputs, self._settings(param), outputs)

    def _operands(self, op: OpDef, param: Any, grad: Any, rate: Any) -> dict[str, Any]:
        """By input slot of the update operator."""
        states = {k.slot: self._state(param, k) for k in self._accumulators()}
        return {"Param": param, "Grad": grad, "LearningRate": rate, **states}

    # -- modes ----------------------------------------------------------------------------------------------------

    def _static(self, function: str, loss: Any) -> None:
        if not isinstance(loss, Variable):
            raise LossTypeError(f"The loss should be a Variable, but received {type(loss).__name__}.")
        state.require_static(f"{type(self).__name__}.{function}")


def _find_place() -> Location:
    """Return the user's line, which a program shows as that of its learning rate."""
    return source.here() if state.in_static_mode() else NOWHERE


def home_of(program: Program) -> Block:
    """The block that updates go to: the main one, or that of the backward part of the branch being built."""
    current = program.current_block()
    return current if current.backward_block_idx < 0 else program.blocks[current.backward_block_idx]


def _global_variable(program: Program, key: str, shape: tuple[int, ...], value: float, dtype: Any) -> Variable:
    """A new persistable variable of *program*, which the startup program fills with *value*."""
    name = unique_name.generate(key)
    while name in program.global_block().vars:
        name = unique_name.generate(key)
    return _parameters.create_global_var(shape, value, dtype, persistable=True, name=name)
