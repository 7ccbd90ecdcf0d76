"""Definition of an operator.

One short block holds all that is known about an operator: its kernel, its gradient rule, its shape rule, its
documentation and the sample inputs that tests are generated from::

    @op("tanh", trait=Trait.UNARY)
    def tanh(k, x):
        \"\"\"Hyperbolic tangent of each element.\"\"\"
        return k.xp.tanh(x)

    @tanh.gradient
    def _(k, out, dout):
        return dout * (1 - out * out)

    @tanh.samples
    def _(make):
        yield make(x=(2, 3))

The gradient operator (``tanh_grad``), its gradient and so on are derived from the rule (``derive.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, overload

from ..core.errors import OperatorError
from ..core.spec import DType, TensorSpec, in_use
from . import rare_types, types
from .defined import register
from .rules import Array as Array
from .rules import GradientRule as GradientRule
from .rules import Late as Late
from .rules import Like as Like
from .rules import Namespace as Namespace
from .rules import Operand as Operand
from .rules import Read as Read
from .rules import WrittenRule as WrittenRule
from .rules import attributes_of as attributes_of
from .rules import positional as positional
from .trait import Trait as Trait

if TYPE_CHECKING:
    from .samples import Sample, SampleMaker


class BlockValue:
    """Value of an attribute that refers to a block, such as a block of a program (``ir/program.py``)."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "block"


BLOCK: Final = BlockValue()
"""The default of an attribute that refers to a block; every operator with such an attribute gives a real one."""


class Slot(NamedTuple):
    """A named place for inputs or outputs."""

    name: str
    many: bool = False
    """Holds a list of tensors (``X*`` in a signature)."""
    optional: bool = False
    """May be left empty (``Bias?`` in a signature)."""
    unlisted: bool = False
    """Programs do not list it while it is empty."""


@cache
def parse_slots(text: str) -> tuple[Slot, ...]:
    """``"X* AxisTensor?"`` -> the two slots; many operators have the same ones."""
    return tuple([Slot(t.rstrip("*?"), "*" in t, "?" in t) for t in text.split()])


_Written = tuple[Callable[..., Any], "str | None", bool, "Mapping[str, Callable[[Mapping[str, Any]], bool]] | None"]
"""What :meth:`OpDef.gradient` was given."""


class OpDef:
    """An operator; made by :func:`op` and by ``derive.py``, never by hand.

    Attributes:
        name: what rules call it (``k.add``).
        type: what programs call it (``elementwise_add``).
        inputs, outputs: the slots, in the order of the kernel's parameters and results.
        defaults: every attribute with its default value.
        kernel: ``kernel(backend, *operands, **attrs)``.
        rule: the gradient rule, or None.
        differentiable: False ends every gradient path here, on purpose.
        trait: see :class:`Trait`.
        forward: for a gradient operator, the operator that it differentiates.
        holds_blocks: whether it has attributes that refer to blocks, which it runs. What such an operator computes,
            and its gradient, follow from its blocks; its rule only says which slots take part.
        sized: the input slots whose values say how large its results are (see :func:`op`).
        has_effect: whether the trait says EFFECT.
        has_lists: whether one of its slots holds a list.
        has_one_output: whether it has one result, which is always there and no list.
    """

    __slots__ = (
        "_grad",
        "_samples",
        "_takes",
        "_written",
        "defaults",
        "differentiable",
        "doc",
        "forward",
        "has_effect",
        "has_lists",
        "has_one_output",
        "holds_blocks",
        "infer_fn",
        "input_index",
        "inputs",
        "kernel",
        "kernel_attrs",
        "name",
        "output_index",
        "outputs",
        "rule",
        "sized",
        "trait",
        "type",
    )

    # Read when they are first asked for (READ_LATE).
    doc: str
    has_lists: bool
    has_one_output: bool
    input_index: Mapping[str, int]
    kernel_attrs: tuple[str, ...]
    output_index: Mapping[str, int]
    rule: GradientRule | None

    def __init__(
        self,
        name: str,
        type_: str,
        inputs: tuple[Slot, ...],
        outputs: tuple[Slot, ...],
        kernel: Callable[..., Any],
        *,
        defaults: Mapping[str, Any] | None = None,
        trait: Trait = Trait.NONE,
        differentiable: bool = True,
        forward: OpDef | None = None,
        sized: str | Callable[[Mapping[str, Any]], str] = "",
    ) -> None:
        self.name = name
        self.type = type_
        self.inputs = inputs
        self.outputs = outputs
        self.kernel = kernel
        self.defaults = dict(defaults or {})
        self.trait = trait
        self.differentiable = differentiable
        self.forward = forward
        self.sized = sized
        # No generators here and below: these run for every operator of a definition file, at start-up.
        self.holds_blocks = "blocks" in self.defaults
        for default in self.defaults.values():
            self.holds_blocks |= isinstance(default, BlockValue)
        self.has_effect = Trait.EFFECT in trait
        self.rule = None
        self._written: _Written | None = None
        self.infer_fn: Callable[..., Any] | None = None
        self._samples: Callable[[SampleMaker], Iterator[Sample]] | None = None
        self._grad: OpDef | None = None
        self._takes: types.Takes | None = None

    def __repr__(self) -> str:
        return f"<op {self.type}>"

    # -- parts of the definition, added by decorators ----------------------------------------------------------

    @overload
    def gradient(self, fn: Callable[..., Any]) -> Callable[..., Any]: ...
    @overload
    def gradient(
        self, *, wrt: str = ..., expands: bool = ..., needs: Mapping[str, Callable[[Mapping[str, Any]], bool]] = ...
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]: ...
    def gradient(
        self,
        fn: Callable[..., Any] | None = None,
        *,
        wrt: str | None = None,
        expands: bool = False,
        needs: Mapping[str, Callable[[Mapping[str, Any]], bool]] | None = None,
    ) -> Any:
        """Add the gradient rule.

        The parameters of the rule say what is kept for backward: the names of the kernel's parameters are forward
        inputs, the lower-case names of output slots are forward outputs, and with a ``d`` in front the gradients of
        outputs; keyword-only parameters are attributes, and ``**attrs`` stands for all of them. It returns one entry
        per input that it gives a gradient for (a tuple when there are several): a value, a function that computes it
        (called only when it is wanted), or None for a gradient that is zero everywhere.

        Args:
            wrt: the input slots with a gradient, separated by blanks; all inputs that are not optional by default.
            expands: programs show the rule's operators instead of one gradient operator.
            needs: by parameter: whether an operator with these attributes needs it; where not, the rule gets None and
                programs do not list it.
        """

        if fn is None:
            return partial(self.gradient, wrt=wrt, expands=expands, needs=needs)
        self._written = fn, wrt, expands, needs
        del self.rule  # it is read when it is first asked for
        return fn

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Compute an attribute on its first read: a program uses few of the operators that a file defines."""
            if name not in READ_LATE:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            value = READ_LATE[name](self)
            setattr(self, name, value)
            return value

    def infer(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Add the shape rule: ``fn(*input specs, **attrs)`` gives the output spec, or a tuple of them.

        It takes the attributes that it names as keyword-only parameters, all of them as ``**attrs``; a list slot comes
        as a tuple of specs.
        """
        self.infer_fn = fn
        return fn

    def samples(self, fn: Callable[[SampleMaker], Iterator[Sample]]) -> Callable[[SampleMaker], Iterator[Sample]]:
        """Add the sample inputs that tests are generated from."""
        self._samples = fn
        return fn

    def make_samples(self) -> Iterator[Sample]:
        """The sample inputs, the same ones every time."""
        from .samples import SampleMaker

        if self._samples is not None:
            yield from self._samples(SampleMaker(self))

    @property
    def has_samples(self) -> bool:
        return self._samples is not None

    # -- use ------------------------------------------------------------------------------------------------------

    @property
    def infers(self) -> bool:
        """True if the specs of its outputs follow from its inputs."""
        return not (self.holds_blocks or self.trait & Trait.OPAQUE)

    @property
    def grad_op(self) -> OpDef | None:
        """The derived gradient operator; None without a rule. Made once, when first asked for."""
        if self._grad is None and self.rule is not None:
            from .derive import derive

            self._grad = derive(self)
        return self._grad

    def needs_values(self, operands: Sequence[Any], attrs: Mapping[str, Any]) -> bool:
        """Return whether the shapes of its results, or what it does, depend on values among these *operands*.

        Args:
            operands: what stands in each input slot (arrays, specs, names, …), None or nothing where it is empty.
            attrs: every attribute.
        """
        return Trait.VALUES in self.trait or any(_is_filled(operands[i]) for i in self.size_places(attrs))

    def size_places(self, attrs: Mapping[str, Any]) -> tuple[int, ...]:
        """The places of the input slots whose values say how large the results are.

        A gradient operator reads those of its forward operator, as far as it reads more than their shapes.
        """
        if self.forward is None:
            names = self.sized if isinstance(self.sized, str) else self.sized(attrs)
            return tuple([self.input_index[name] for name in names.split()])
        assert self.forward.rule is not None
        reads, sized = self.forward.rule.reads, self.forward.size_places(attrs)
        return tuple([i for i, r in enumerate(reads) if r.kind == "in" and r.place in sized and not r.like])

    @property
    def takes(self) -> types.Takes:
        """Types of elements that it takes, and the operands that decide what it computes in."""
        if self._takes is None:
            self._takes = types.takes_of(self)
        return self._takes

    def attributes(self, attrs: Mapping[str, Any]) -> dict[str, Any]:
        """Defaults overlaid with *attrs*; names that the operator does not have are left out.

        Raises:
            OperatorError: a value of the wrong type (also a TypeError).
            DtypeError: a type of elements that it does not make (a TypeError).
        """
        filled = dict(self.defaults)
        for name, value in attrs.items():
            if name in filled:
                filled[name] = _check_attribute(self.type, name, value, filled[name])
        if self.type in types.MAKES:
            types.expect_made(self.type, filled["dtype"])
        return filled

    def infer_specs(self, specs: Sequence[Any], attrs: Mapping[str, Any]) -> tuple[Any, ...]:
        """The output specs, one per output slot (a tuple for a list slot), from the input specs."""
        from . import infer

        specs = types.compute_specs(self, specs)
        if in_use:
            rare_types.expect_complex_allowed(self, specs)
        if self.infer_fn is not None:
            names = attributes_of(self.infer_fn, self.defaults)
            result = self.infer_fn(*specs, **{n: attrs[n] for n in names})
        else:
            result = infer.infer_by_trait(self, specs, attrs)
        outs: tuple[Any, ...] = result if isinstance(result, tuple) else (result,)
        if in_use:
            rare_types.expect_complex_kept(self, specs, outs)
        return outs

    def run(self, backend: Any, operands: Iterable[Operand], attrs: Mapping[str, Any]) -> Any:
        """Call the kernel with the attributes that it takes."""
        return self.kernel(backend, *operands, **{n: attrs[n] for n in self.kernel_attrs})


def _is_filled(operand: Any) -> bool:
    return bool(operand) if isinstance(operand, (list, tuple)) else operand is not None


def _read_attrs(op: OpDef) -> tuple[str, ...]:
    """The attributes that the kernel takes."""
    taken = attributes_of(op.kernel, op.defaults)
    missing = set(taken).difference(op.defaults)
    if missing:
        raise OperatorError(f"{op.name}: the kernel takes attributes without a default: {', '.join(sorted(missing))}")
    return taken


def _read_rule(op: OpDef) -> GradientRule:
    """The gradient rule."""
    assert op._written is not None, "only what `gradient` was given is read late"
    fn, wrt, expands, needs = op._written
    names = wrt.split() if wrt is not None else [s.name for s in op.inputs if not s.optional]
    return WrittenRule(op, fn, tuple(map(op.input_index.__getitem__, names)), expands, needs)


READ_LATE: Final[Mapping[str, Callable[[OpDef], Any]]] = {
    "doc": lambda op: (op.kernel.__doc__ or "").strip(),
    "has_lists": lambda op: any(slot.many for slot in (*op.inputs, *op.outputs)),
    "has_one_output": lambda op: len(op.outputs) == 1 and not (op.outputs[0].many or op.outputs[0].optional),
    "input_index": lambda op: {slot.name: place for place, slot in enumerate(op.inputs)},
    "kernel_attrs": _read_attrs,
    "output_index": lambda op: {slot.name: place for place, slot in enumerate(op.outputs)},
    "rule": _read_rule,
}
"""By attribute of a definition: what gives it when it is first asked for."""


class AttributeTypeError(OperatorError, TypeError):
    """An attribute of a wrong type."""


def _check_attribute(op_type: str, name: str, value: Any, default: Any) -> Any:
    """*value* as an attribute with that default: numbers widen, lists become tuples, anything else must match."""
    if isinstance(value, list):
        value = tuple(value)
    if default is None or isinstance(value, type(default)):
        return value
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        return _check_attribute(op_type, name, value.item(), default)
    if isinstance(default, int) and isinstance(value, DType):
        return value.code
    if isinstance(default, float) and isinstance(value, int):
        return float(value)
    if isinstance(default, bool) and isinstance(value, int):
        return bool(value)
    if isinstance(default, tuple) and hasattr(value, "tolist"):
        return tuple(value.tolist())
    raise AttributeTypeError(
        f"{op_type}: attribute '{name}' must be {type(default).__name__}, but received "
        f"{type(value).__name__} ({value!r})."
    )


def op(
    name: str,
    signature: str = "X -> Out",
    *,
    type: str | None = None,
    attrs: Mapping[str, Any] | None = None,
    trait: Trait = Trait.NONE,
    differentiable: bool = True,
    sized: str | Callable[[Mapping[str, Any]], str] = "",
) -> Callable[[Callable[..., Any]], OpDef]:
    """Define an operator; decorates its kernel.

    Args:
        name: what rules call it.
        signature: its slots, as in ``"X* AxisTensor? -> Out"``: ``*`` holds a list, ``?`` may be empty. The kernel's
            positional parameters after ``k`` stand for the inputs in this order, its keyword-only ones for
            attributes, ``**attrs`` for all of them.
        type: what programs call it; the name by default.
        attrs: every attribute with its default.
        differentiable: False for an operator through which no gradient can pass (comparisons, shapes, …).
        sized: the input slots whose values say how large the results are (``"Shape ShapeTensor"``): with one of them
            it is as with :attr:`Trait.VALUES`, without them it can be compiled. Or a function that tells them from
            the attributes.
    """

    def define(kernel: Callable[..., Any]) -> OpDef:
        before, _, after = signature.partition("->")
        new = OpDef(
            name,
            type or name,
            parse_slots(before),
            parse_slots(after),
            kernel,
            defaults=attrs,
            trait=trait,
            differentiable=differentiable,
            sized=sized,
        )
        register(new)
        return new

    return define


def specs_of(operands: Iterable[Operand]) -> list[Any]:
    """The specs of array operands, in the same nesting."""
    return [_spec_of(v) for v in operands]


def _spec_of(operand: Operand) -> Any:
    if operand is None:
        return None
    if isinstance(operand, (list, tuple)):
        return tuple(TensorSpec(e.shape, e.dtype) for e in operand)
    return TensorSpec(operand.shape, operand.dtype)
