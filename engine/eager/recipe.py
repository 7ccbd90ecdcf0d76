"""Preparations for recording an operator, done once: its kernels by attributes, and the text that is written for it."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextvars import ContextVar
from time import perf_counter
from types import CodeType
from typing import Any

import numpy as np

from ..core import source, watch
from ..core.attribute_keys import REMEMBERED, key_of, simple
from ..core.identity import identity
from ..core.rows import RowArray
from ..core.spec import in_use, when_in_use
from ..kernels.backend import Backend
from ..kernels.choice import eager, when_chosen
from ..ops import rare_types
from ..ops.opdef import OpDef, Operand, Read, Trait, WrittenRule, specs_of
from . import mode
from .embedding_gradients import LOOK_UP, rows_for_leaves
from .generated_functions import compile_pull, compile_record
from .mode import enable_grad, grad_enabled
from .operand_types import Fit, kind_of
from .rare_calls import apart, cause, explain_failure, is_of
from .tape import each, keys
from .tensor import Tensor, array_of

_frame_at = sys._getframe


class BoundOp:
    """An operator with its attributes, ready to be computed and differentiated.

    Attributes:
        kernel: takes the arrays alone.
        gradients: the gradient kernels, by a number whose bits say which gradients are wanted.
        makes_own: whether the kernel gives arrays of their own always, neither views nor operands.
        user: the user's code that called it last.
        fitting: shapes and dtypes of operands that the operator's shape rule has accepted.
        fits: by types of operands other than float32 and float64: what becomes of them (``operand_types.py``).
    """

    __slots__ = ("__weakref__", "attrs", "fits", "fitting", "gradients", "kernel", "makes_own", "recipe", "user")

    def __init__(self, recipe: Recipe, attrs: Mapping[str, Any]) -> None:
        self.recipe = recipe
        self.attrs = attrs
        self.fitting: set[Any] = set()
        self.fits: dict[Any, Fit] = {}
        self.gradients = _Gradients(self)
        self.user: CodeType | None = None
        self.bind()

    def bind(self) -> None:
        """Choose the kernel; once a rare type is in use, one that looks out for it. If someone watches, it tells."""
        kernel = self.recipe.backend.bind(self.recipe.op, self.attrs)
        self.kernel = rare_types.watch_kernel(self.recipe.op, self.attrs, kernel) if in_use else kernel
        if watch.is_watched():
            self.kernel = _report_kernel(self, self.kernel)
        self.makes_own = type(self.kernel) is np.ufunc
        _chosen.add(self)

    def check(self, operands: Sequence[Any]) -> None:
        """Raise what the operator's shape rule says of operands that do not fit, as a program does.

        Kernels compute something of much that does not fit. The rule is asked once for operands of one kind.
        """
        kinds = tuple([kind_of(v, _form) for v in operands])
        if kinds in self.fitting:
            return
        op = self.recipe.op
        if op.infers:
            arrays = [*[each(v, array_of) for v in operands], *self.recipe.padding[len(operands) :]]
            try:
                op.infer_specs(specs_of(arrays), self.attrs)
            except Exception as error:
                refused = explain_failure(self, arrays, error)
                by = watch.watcher()
                if by is not None:
                    by(watch.OpFailed(refused, op, self.attrs, tuple(arrays), source.here()))
                raise refused from cause(error)
        if len(self.fitting) >= REMEMBERED:
            self.fitting.clear()
        self.fitting.add(kinds)


def _form(tensor: Tensor) -> tuple[Any, Any]:
    """Return the key that decides whether a call fits."""
    return tensor.array.shape, tensor.array.dtype


_chosen: weakref.WeakSet[BoundOp] = weakref.WeakSet()
"""The calls that have chosen kernels; all others choose when they are next computed."""


@watch.when_switched
@when_in_use
def _bind_again() -> None:
    """Let every call choose its kernels anew, each when it is next computed.

    A process may hold many calls that never are: what this takes must not grow with them.
    """
    if not _chosen:
        return
    for call in list(_chosen):
        _chosen.discard(call)  # at once, for another thread may be choosing
        call.kernel, call.makes_own = _late(call), False
        call.gradients = _Gradients(call)


def _late(call: BoundOp) -> Callable[..., Any]:
    """A kernel that chooses the one of *call* when it is first called, and is it from then on."""

    def kernel(*arrays: Any) -> Any:
        if call.kernel is kernel:
            call.bind()
        return call.kernel(*arrays)

    return kernel


@watch.when_switched
def _record_again() -> None:
    for recipe in list(recipes.values()):
        recipe.record = _choose_recorder(recipe.written)


mode.on_casting.append(_record_again)


def _choose_recorder(written: Callable[..., Any]) -> Callable[..., Any]:
    """Choose the function that records a call, given the one for calls that nobody watches and nothing casts."""
    record = _report_calls(written) if watch.noting else written
    return record if mode.casting is None else _cast_first(record)


def _cast_first(record: Callable[..., Any]) -> Callable[..., Any]:
    """*record*, with operands that are cast before."""

    def cast_and_record(call: Any, *operands: Any) -> Any:
        return record(call, *mode.casting.cast_operands(call.recipe.op.type, operands))

    return cast_and_record


_operands: ContextVar[Sequence[Any]] = ContextVar("gradtool_operands", default=())
"""The tensors whose arrays a kernel is about to be given, for who tells of it."""


def _report_calls(record: Callable[..., Any]) -> Callable[..., Any]:
    """*record*, telling who watches tensors what it took and gave."""

    def report_call(call: BoundOp, *operands: Any) -> Any:
        token = _operands.set(operands)
        try:
            if not grad_enabled() and watch.note(watch.Cutting("no_grad")):
                with enable_grad():
                    result = record(call, *operands)
            else:
                result = record(call, *operands)
        finally:
            _operands.reset(token)
        watch.note(watch.Called(call.recipe.op, operands, result if isinstance(result, tuple) else (result,)))
        return result

    return report_call


def leaves(operands: Sequence[Any]) -> frozenset[int]:
    """The identities of the arrays of the parameters, and of other leaves, among *operands* and in lists there."""
    ids = set()
    for operand in operands:
        for t in operand if isinstance(operand, (list, tuple)) else (operand,):
            if isinstance(t, Tensor) and t.node is None and (t.persistable or not t._stop):
                ids.add(identity(t.array))
    return frozenset(ids)


def _report_kernel(call: BoundOp, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """*kernel*, telling the watcher what it did."""
    op, attrs, shares = call.recipe.op, call.attrs, call.recipe.shares
    single = len(op.outputs) == 1

    def tell(*arrays: Any) -> Any:
        by = watch.watcher()
        if by is None:
            return kernel(*arrays)
        start = perf_counter()
        try:
            result = kernel(*arrays)
        except Exception as error:
            by(watch.OpFailed(error, op, attrs, arrays, source.here()))
            raise
        seconds = perf_counter() - start
        if single:
            result = _as_held(result, arrays, shares)
            outputs = (result,)
        else:
            result = outputs = tuple([_as_held(a, arrays, shares) for a in result])
        key = next(keys) - 1  # the next key is that of this call's node, if it is recorded
        site = source.site(_frame_at(2))
        held = leaves(_operands.get())
        by(watch.Computed(op, attrs, arrays, outputs, site, key, seconds, call.recipe.backend, held))
        return result

    return tell


def _as_held(result: Any, arrays: Sequence[Any], shares: bool) -> Any:
    """A result of a kernel as its tensor will hold it, whatever ``rare_calls.settled`` would make of it.

    Args:
        shares: whether the result is an operand's storage on purpose.
    """
    if type(result) is np.ndarray:
        for a in arrays if not shares else ():
            for v in a if isinstance(a, (list, tuple)) else (a,):
                if is_of(result, v):
                    return apart(result, v)
        return result
    if result is None or isinstance(result, RowArray):
        return result
    if isinstance(result, (list, tuple)):
        return [_as_held(a, arrays, shares) for a in result]
    return np.asarray(result)


class _Gradients(dict[int, Callable[..., Any]]):
    """Gradient kernels, bound when first asked for."""

    __slots__ = ("_call",)

    def __init__(self, call: BoundOp) -> None:
        super().__init__()
        self._call = call

    def __missing__(self, mask: int) -> Callable[..., Any]:
        recipe = self._call.recipe
        wanted = [[bool(mask >> i & 1)] for i in range(len(recipe.wrt))]
        bound = recipe.backend.bind_gradient(recipe.op, self._call.attrs, wanted)
        assert bound is not None, "only rules without list slots are pulled through"
        if in_use:
            assert recipe.op.grad_op is not None
            general = recipe.backend.general(recipe.op.grad_op, self._call.attrs, wanted)
            bound = rare_types.watch_gradient_kernel(recipe.op, self._call.attrs, bound, general)
        self[mask] = bound
        _chosen.add(self._call)
        return bound


class Recipe:
    """Preparations for recording one operator on one backend, done once.

    Attributes:
        backend: whose kernels the calls are bound to.
        listed: positions of the inputs that hold lists. Lists that may be empty and get no gradient (``ShapeTensor*``)
            are taken to be empty.
        lists: of an operator with such lists, the recipe for calls in which they are not empty.
        reads: what the gradient rule reads.
        wrt: positions of the inputs with a gradient.
        optional_outputs: whether there are outputs that exist only when they are asked for.
        outs: positions of the outputs whose gradient the rule takes.
        idle: positions of the other outputs: places, counts, masks.
        kept_outputs: which of these outputs (by index among them) the rule reads the values of.
        shares: whether results are views of an operand on purpose (``Trait.VIEW``).
        default: the call with all attributes at their defaults.
        record: ``record(call, *tensors)`` computes and records one call.
        written: the same while nobody watches tensors.
        pull: ``pull(node, gradients, wrt)`` gives the gradients by the places *wrt*; *gradients* holds those of the
            outputs from position 1 on. None where the rule itself must be asked (``backward.py``).
    """

    __slots__ = (
        "_calls",
        "_only",
        "backend",
        "count",
        "default",
        "idle",
        "kept_outputs",
        "listed",
        "lists",
        "op",
        "optional_outputs",
        "outs",
        "padding",
        "pull",
        "reads",
        "record",
        "shares",
        "written",
        "wrt",
    )

    def __init__(self, op: OpDef, backend: Backend, lists: bool = False) -> None:
        rule = op.rule
        self.op = op
        self.backend = backend
        self.count = len(op.inputs)
        self.optional_outputs = any(s.optional for s in op.outputs)
        self.padding: tuple[Operand, ...] = tuple([] if s.many else None for s in op.inputs)
        self.reads: tuple[Read, ...] = tuple(rule.reads) if rule is not None else ()
        self.wrt = tuple(rule.wrt) if rule is not None else ()
        many = [i for i, s in enumerate(op.inputs) if s.many]
        self.listed = frozenset(many if lists else {0, *self.wrt}.intersection(many))
        self.lists = None if self.listed.issuperset(many) else Recipe(op, backend, lists=True)
        self.outs = tuple(r.place for r in self.reads if r.kind == "dout")
        values = {r.place for r in self.reads if r.kind == "out" and not r.like}
        beside = [j for j, s in enumerate(op.outputs) if not (s.many or s.name == "XShape" or j in self.outs)]
        self.idle = tuple(beside) if self.outs else ()
        self.kept_outputs = frozenset(
            i for i, place in enumerate(self.outs) if place in values and not any(s.many for s in op.outputs)
        )
        self.shares = Trait.VIEW in op.trait
        self.written: Callable[..., Any] = compile_record(self)
        self.record = self.written
        if not lists and (watch.noting or mode.casting is not None):
            self.record = _choose_recorder(self.written)
        self.pull = compile_pull(self) if isinstance(rule, WrittenRule) else None
        if self.pull is not None and op.type == LOOK_UP:
            self.pull = rows_for_leaves(self.pull)
        if not self.listed.isdisjoint(self.wrt) or any(op.outputs[j].many for j in self.outs):
            if in_use:
                self.pull = None
            _with_lists.append(self)
        self._calls: dict[Hashable, BoundOp] = {}
        self._only: dict[int, Callable[..., Any]] = {}
        self.default = BoundOp(self, op.defaults)

    def call(self, attrs: Mapping[str, Any]) -> BoundOp:
        """The operator with *attrs*, all of them and in the order of the defaults."""
        if attrs is self.op.defaults:
            return self.default
        key = key_of(tuple(attrs.values()))
        call = self._calls.get(key)
        if call is None:
            call = self._remember(key, BoundOp(self, attrs), attrs)
        return call

    def bind(self, attrs: Mapping[str, Any]) -> BoundOp:
        """The operator with *attrs* in place of some of the defaults.

        Raises:
            OperatorError: a value of the wrong type (also a TypeError).
        """
        key = key_of(attrs)
        call = self._calls.get(key)
        if call is None:
            call = self._remember(key, self.call(self.op.attributes(attrs)), attrs)
        return call

    def only(self, place: int) -> Callable[..., Any]:
        """As :attr:`record` of an operator with several outputs, giving only the one at *place*."""
        record = self._only.get(place)
        if record is None:
            record = self._only[place] = compile_record(self, place)
        return record

    def _remember(self, key: Hashable | None, call: BoundOp, attrs: Mapping[str, Any]) -> BoundOp:
        if key is not None and all(map(simple, attrs.values())):
            if len(self._calls) >= REMEMBERED:
                self._calls.clear()
            self._calls[key] = call
        return call


_with_lists: list[Recipe] = []


@when_in_use
def _pull_by_loops() -> None:
    """Pull through lists by loops, which also take care of rare types."""
    for recipe in _with_lists:
        recipe.pull = None


class _Recipes(dict[OpDef, Recipe]):
    __slots__ = ()

    def __missing__(self, op: OpDef) -> Recipe:
        recipe = self[op] = Recipe(op, eager())
        return recipe


recipes = _Recipes()
"""The recipe of every operator on the backend in use, made when first asked for."""

_aside: dict[str, dict[OpDef, Recipe]] = {}
"""The recipes of the other backends, by their names: what is recorded with one keeps its kernels."""


@when_chosen
def _change_recipes(before: Backend, now: Backend) -> None:
    before, now = before.eager or before, now.eager or now
    if before is now:
        return
    _aside[before.name] = dict(recipes)
    recipes.clear()
    recipes.update(_aside.pop(now.name, {}))
    _record_again()
