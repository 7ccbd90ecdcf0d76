"""``paddle.full``, ``paddle.arange``, ``paddle.to_tensor``, …: tensors from numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradtool.engine.core import source, state, watch
from gradtool.engine.core.errors import ArgumentTypeError, DtypeError, ModeError, UsageError
from gradtool.engine.core.spec import DType, bfloat16, complex64, complex128, float32
from gradtool.engine.core.spec import dtype as dtype_of
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ir.variable import Variable

from ._arguments import dims, integer, tensor
from ._dispatch import apply, counted, layer_name
from ._manipulation import stack
from ._remembered import remembered


def _dtype(dtype: Any) -> DType:
    return state.default_dtype() if dtype is None else dtype_of(dtype)


def fill(
    shape: Any,
    value: Any,
    dtype: Any,
    *,
    force_cpu: bool = False,
    name: str | None = None,
    output: AnyTensor | None = None,
) -> AnyTensor:
    """A tensor of one value, by the operator ``fill_constant``; takes two numbers of the name's counter, as in Paddle.

    Args:
        shape: numbers and variables, or one variable.
        value: a number or a variable of one element.
    """
    if name is None:
        counted("fill_constant")
    layer = layer_name(name, "fill_constant")
    kind = dtype_of(dtype)
    size = dims(shape, "shape", "paddle.full", ndim=0)
    if any(d < 0 and not size.parts for d in size.numbers):
        raise UsageError(f"paddle.full: every dimension must be known and not negative, but shape is {list(shape)}.")
    attrs: dict[str, Any] = {"shape": size.numbers, "dtype": kind.code, "force_cpu": force_cpu}
    if not isinstance(value, AnyTensor):
        number = _number_of(kind, value)
        attrs["value"], attrs["str_value"] = float(number.real), str(number)
    out = apply(
        "fill_constant",
        value if isinstance(value, AnyTensor) else None,
        size.whole,
        size.parts,
        attrs=attrs,
        name=layer,
        outputs={"Out": output} if output is not None else None,
    )
    out.stop_gradient = True
    return out  # type: ignore[no-any-return]


def _number_of(kind: DType, value: Any) -> complex:
    """The number that fills a tensor of that type; raises :class:`DtypeError` if it holds none such."""
    number = _number(value)
    if isinstance(number, complex):
        if not kind.is_complex:
            raise DtypeError(f"paddle.full: {number} is no {kind.name}.", hint="use dtype='complex64'")
        return number
    if not kind.is_integer:
        return float(number)
    if not math.isfinite(number):
        raise DtypeError(f"paddle.full: {number} is no {kind.name}.", hint="use a floating-point type")
    return int(number)


def _number(value: Any) -> complex:
    if isinstance(value, np.complexfloating):
        return complex(value)
    try:
        return value if isinstance(value, (int, float, complex)) else float(value)
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            f"The type of 'fill_value' in paddle.full must be a number, but received {value!r}."
        ) from None


def full(shape: Any, fill_value: Any, dtype: Any = None, name: str | None = None) -> AnyTensor:
    """A tensor of *shape* filled with one value.

    Args:
        shape: a list of numbers and variables, or a variable.
        fill_value: a number, or a variable of one element.
        dtype: the default dtype when None (bool for a truth value, complex128 for a complex number).

    >>> from gradtool import paddle
    >>> paddle.enable_static()
    >>> paddle.full([2, 3], 1.5).shape
    (2, 3)
    """
    if dtype is None and isinstance(fill_value, bool):
        dtype = "bool"
    elif dtype is None and isinstance(fill_value, (complex, np.complexfloating)):
        dtype = "complex128"
    if not isinstance(shape, (list, tuple, AnyTensor)) and hasattr(shape, "__index__"):
        shape = [shape]
    return fill(shape, fill_value, _dtype(dtype), name=name)


def fill_constant(
    shape: Any,
    dtype: Any,
    value: Any,
    force_cpu: bool = False,
    out: AnyTensor | None = None,
    name: str | None = None,
) -> AnyTensor:
    """As :func:`full`, in the older order of arguments; *out* is written to when it is given."""
    return fill(shape, value, dtype, force_cpu=force_cpu, name=name, output=out)


def zeros(shape: Any, dtype: Any = None, name: str | None = None) -> AnyTensor:
    """A tensor of zeros."""
    return full(shape, 0.0, _dtype(dtype), name)


def ones(shape: Any, dtype: Any = None, name: str | None = None) -> AnyTensor:
    """A tensor of ones."""
    return full(shape, 1.0, _dtype(dtype), name)


def full_like(x: Any, fill_value: Any, dtype: Any = None, name: str | None = None) -> AnyTensor:
    """A tensor of one value in the shape of *x*, in its dtype unless another one is given."""
    x = tensor(x, "x", "paddle.full_like")
    if isinstance(fill_value, (complex, np.complexfloating)):
        return ones_like(x, dtype, name) * complex(fill_value)  # type: ignore[no-any-return]
    attrs = {"value": float(fill_value), "dtype": (dtype_of(dtype) if dtype is not None else x.dtype).code}
    out = apply("fill_any_like", x, attrs=attrs, key="full_like", name=name)
    out.stop_gradient = True
    return out  # type: ignore[no-any-return]


def zeros_like(x: Any, dtype: Any = None, name: str | None = None) -> AnyTensor:
    """Zeros in the shape of *x*."""
    return full_like(x, 0.0, dtype, name)


def ones_like(x: Any, dtype: Any = None, name: str | None = None) -> AnyTensor:
    """Ones in the shape of *x*."""
    return full_like(x, 1.0, dtype, name)


def arange(start: Any = 0, end: Any = None, step: Any = 1, dtype: Any = None, name: str | None = None) -> AnyTensor:
    """The numbers from *start* up to but without *end*, *step* apart; from 0 up to *start* without *end*.

    Args:
        start, end, step: numbers, or variables of one element.
        dtype: int64 when all numbers are whole, else the default dtype.
    """
    if end is None:
        start, end = 0, start
    values = (start, end, step)
    if dtype is None:
        real = any(v.dtype.is_floating if isinstance(v, AnyTensor) else isinstance(v, float) for v in values)
        dtype = state.default_dtype() if real else "int64"
    kind = dtype_of(dtype)
    if not isinstance(step, AnyTensor) and not step:
        raise UsageError("paddle.arange: step must not be 0.")
    parts = [_bound(v, kind) for v in values]
    out = apply("range", *parts, name=name)
    if not any(isinstance(v, AnyTensor) for v in values):
        first, last, width = (kind.numpy.type(v) for v in (start, end, step))
        _known(out, max(math.ceil((last - first) / width), 0))
    out.stop_gradient = True
    return out  # type: ignore[no-any-return]


def _known(out: AnyTensor, size: int) -> None:
    """Note the size of a vector of a program, which its operator cannot tell before it runs."""
    if isinstance(out, Variable):
        out.spec = out.spec.replace_shape((size,))


def _bound(value: Any, kind: DType) -> AnyTensor:
    if isinstance(value, AnyTensor):
        return value if value.dtype is kind else cast(value, kind)
    return fill([1], value, kind, force_cpu=True)


def linspace(start: Any, stop: Any, num: Any, dtype: Any = None, name: str | None = None) -> AnyTensor:
    """*num* numbers from *start* to *stop*, both included, evenly spaced.

    Args:
        start, stop, num: numbers, or variables of one element.
    """
    kind = dtype_of(dtype) if dtype is not None else state.default_dtype()
    first, last = (v if isinstance(v, AnyTensor) else fill([1], v, kind, force_cpu=True) for v in (start, stop))
    count = (
        num
        if isinstance(num, AnyTensor)
        else fill([1], integer(num, "num", "paddle.linspace"), "int32", force_cpu=True)
    )
    out = apply("linspace", first, last, count, attrs={"dtype": kind.code}, name=name)
    if not isinstance(num, AnyTensor):
        _known(out, int(num))
    out.stop_gradient = True
    return out  # type: ignore[no-any-return]


def eye(num_rows: int, num_columns: int | None = None, dtype: Any = None, name: str | None = None) -> AnyTensor:
    """Ones on the diagonal, zeros elsewhere."""
    rows = integer(num_rows, "num_rows", "paddle.eye")
    columns = rows if num_columns is None else integer(num_columns, "num_columns", "paddle.eye")
    if rows < 0 or columns < 0:
        raise ArgumentTypeError(f"paddle.eye: num_rows and num_columns must not be negative: {rows}, {columns}")
    attrs = {"num_rows": rows, "num_columns": columns, "dtype": _dtype(dtype).code}
    out = apply("eye", attrs=attrs, name=name)
    out.stop_gradient = True
    return out  # type: ignore[no-any-return]


def assign(x: Any, output: AnyTensor | None = None) -> AnyTensor:
    """A copy of a variable, or a variable with the values of a NumPy array, list or number.

    Args:
        output: the variable to write to; a new one when None.

    Raises:
        ArgumentTypeError: *x* holds something else than numbers (a TypeError).
    """
    outputs = {"Out": output} if output is not None else None
    if isinstance(x, AnyTensor):
        return apply("assign", x, outputs=outputs)  # type: ignore[no-any-return]
    value = _array(x)
    return _values(value.reshape(1) if isinstance(x, (int, float)) else value, output)


def _array(x: Any) -> np.ndarray[Any, Any]:
    value = np.array(x)
    if value.dtype.kind not in "biufc" and value.dtype.name != "bfloat16":
        raise ArgumentTypeError(
            f"paddle.assign takes a Variable, numbers, or an array or list of numbers, but received {type(x).__name__}."
        )
    return value


def _values(value: np.ndarray[Any, Any], output: AnyTensor | None = None) -> AnyTensor:
    attrs = {"shape": value.shape, "dtype": dtype_of(value.dtype).code, "values": value.reshape(-1).tolist()}
    return apply(  # type: ignore[no-any-return]
        "assign_value", attrs=attrs, key="assign", outputs={"Out": output} if output is not None else None
    )


def to_tensor(data: Any, dtype: Any = None, place: Any = None, stop_gradient: bool = True) -> AnyTensor:
    """A variable or tensor with the values of *data*.

    Args:
        data: a number, a (nested) list, a NumPy array, a tensor, which is copied, or a variable, which is returned
            itself. A list may hold tensors or variables of one shape. An array of uint16 holds the bits of bfloat16
            numbers, as in Paddle.
        dtype: the dtype of the data when None; Python floats become the default dtype, Python complex numbers
            complex64, or complex128 where the default dtype is another one than float32. In a static program they
            become complex128 (as in Paddle).
        place: accepted for compatibility; there is one.
        stop_gradient: set on the result, also where that is the variable given (as in Paddle).

    Raises:
        ArgumentTypeError: *data* is something else (a TypeError).

    >>> from gradtool import paddle
    >>> paddle.to_tensor([1, 2], dtype="float32", stop_gradient=False)
    Tensor(shape=[2], dtype=float32, place=Place(cpu), stop_gradient=False,
           [1., 2.])
    """
    if not state.in_static_mode():
        return _made(data, dtype, stop_gradient)
    if isinstance(data, AnyTensor):
        out = data
    elif isinstance(data, (list, tuple)) and any(isinstance(v, AnyTensor) for v in data):
        out = assign(stack([to_tensor(v) for v in data]))
    else:
        value = _bits(_array(data))
        if value.dtype == np.float64 and not hasattr(data, "dtype"):
            value = value.astype(state.default_dtype().numpy)
        out = _values(value)
    if dtype is not None and out.dtype is not dtype_of(dtype):
        out = cast(out, dtype)
    out.stop_gradient = stop_gradient
    return out


def _made(data: Any, dtype: Any, stop_gradient: bool) -> Tensor:
    """The tensor that :func:`to_tensor` gives in dynamic mode: storage of its own."""
    if isinstance(data, Variable):
        raise ModeError(
            f"paddle.to_tensor: '{data.name}' is a variable of a static program, and dynamic mode is on.",
            hint="call paddle.enable_static() before building the program",
        )
    value = _bits(np.array(data.array if isinstance(data, Tensor) else _plain(data)))
    if value.dtype.kind not in "biufc" and value.dtype.name != "bfloat16":
        raise ArgumentTypeError(
            f"Can't constructs a 'paddle.Tensor' with data type {type(data)}, data type must be "
            "scalar|list|tuple|np.ndarray|paddle.Tensor"
        )
    if dtype is not None:
        wanted = dtype_of(dtype)
        value = (value if wanted.is_complex else value.real).astype(wanted.numpy)
    elif not hasattr(data, "dtype"):
        value = _in_default_dtype(value)
    dtype_of(value.dtype)  # one that tensors can have
    out = Tensor(value, stop_gradient=stop_gradient)
    out.loc = source.here()
    if watch.noting:
        _note_copy(data, out)
    return out


def _in_default_dtype(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Floating-point numbers in the default type, complex ones in that with parts of it, others as they are."""
    real = state.default_dtype()
    if value.dtype.kind == "f":
        return value.astype(real.numpy)
    if value.dtype.kind == "c":
        return value.astype((complex64 if real is float32 else complex128).numpy)
    return value


def _note_copy(data: Any, out: Tensor) -> None:
    """Let who watches know of which tensors *out* holds the values."""
    entries = data if isinstance(data, (list, tuple)) else (data,)
    sources = tuple(v for v in entries if isinstance(v, Tensor))
    if sources:
        watch.note(watch.Copied("to_tensor", sources, out))


def _bits(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """*value*, or the bfloat16 numbers whose bits it holds."""
    return value.view(bfloat16.numpy) if value.dtype == np.uint16 else value


def _plain(data: Any) -> Any:
    """Nested lists with arrays in the place of tensors."""
    if isinstance(data, Tensor):
        return data.array
    return [_plain(v) for v in data] if isinstance(data, (list, tuple)) else data


@remembered
def cast(x: Any, dtype: Any) -> AnyTensor:
    """*x* in another dtype."""
    x = tensor(x, "x", "paddle.cast")
    return apply(  # type: ignore[no-any-return]
        "cast", x, attrs={"in_dtype": x.dtype.code, "out_dtype": dtype_of(dtype).code}
    )


def clone(x: Any, name: str | None = None) -> AnyTensor:
    """A copy of *x* through which gradients flow."""
    return tensor(x, "x", "paddle.clone").clone()  # type: ignore[no-any-return]


def increment(x: Any, value: float = 1.0, name: str | None = None) -> AnyTensor:
    """Add *value* to the variable *x* of one element, in place; returns *x*."""
    x = tensor(x, "x", "paddle.increment")
    return apply(  # type: ignore[no-any-return]
        "increment", x, attrs={"step": float(value)}, name=name, outputs={"Out": x}
    )


def tril(x: Any, diagonal: int = 0, name: str | None = None) -> AnyTensor:
    """The lower triangle of each matrix, zeros above; *diagonal* counts upwards from the main one."""
    return _triangle("tril", x, diagonal, True, name)


def triu(x: Any, diagonal: int = 0, name: str | None = None) -> AnyTensor:
    """The upper triangle of each matrix, zeros below; *diagonal* counts upwards from the main one."""
    return _triangle("triu", x, diagonal, False, name)


def _triangle(key: str, x: Any, diagonal: int, lower: bool, name: str | None) -> AnyTensor:
    where = f"paddle.{key}"
    attrs = {"diagonal": integer(diagonal, "diagonal", where), "lower": lower}
    return apply(  # type: ignore[no-any-return]
        "tril_triu", tensor(x, "x", where), attrs=attrs, key=key, name=name, direct=True
    )


def meshgrid(*args: Any, **named: Any) -> list[AnyTensor]:
    """The vectors *args* (or the vectors in a list), each along a dimension of its own and the same along all others.

    >>> from gradtool import paddle
    >>> paddle.enable_static()
    >>> [v.shape for v in paddle.meshgrid(paddle.arange(2), paddle.arange(3))]
    [(2, 3), (2, 3)]
    """
    vectors = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
    inputs = [tensor(v, f"args[{i}]", "paddle.meshgrid") for i, v in enumerate(vectors)]
    return apply(  # type: ignore[no-any-return]
        "meshgrid", inputs, name=named.get("name"), counts=[len(inputs)]
    )


def shape(input: Any) -> AnyTensor:
    """The dimensions of *input* as a vector: int32, when the program runs; int64 in dynamic mode (as in Paddle)."""
    x = tensor(input, "input", "paddle.shape")
    if isinstance(x, Tensor):
        return apply("shape64", x)  # type: ignore[no-any-return]
    out = apply("shape", x)
    out.stop_gradient = True
    return out  # type: ignore[no-any-return]


def numel(x: Any, name: str | None = None) -> AnyTensor:
    """The number of elements of *x* when the program runs, as a 0-d int64 tensor."""
    return apply("size", tensor(x, "x", "paddle.numel"), key="numel", name=name)  # type: ignore[no-any-return]


def rank(input: Any) -> AnyTensor:
    """The number of dimensions of *input*, as a 0-d int32 tensor."""
    return _values(np.array(tensor(input, "input", "paddle.rank").ndim, "int32"))
