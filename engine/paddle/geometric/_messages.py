"""Messages that the nodes of a graph send along its edges."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import DtypeError, UsageError
from gradtool.engine.core.value import AnyTensor
from gradtool.engine.eager.tensor import Tensor
from gradtool.engine.ir.variable import Variable
from gradtool.paddle._arguments import integer, tensor
from gradtool.paddle._dispatch import apply

REDUCTIONS = ("sum", "mean", "max", "min")
MESSAGES = {"add": "ADD", "sub": "ADD", "mul": "MUL", "div": "MUL"}
"""What nodes may do with edges, and the operator's word for it, of the opposite or the reciprocal where need be."""


def send_u_recv(
    x: Any, src_index: Any, dst_index: Any, reduce_op: str = "sum", out_size: Any = None, name: str | None = None
) -> AnyTensor:
    """Each edge takes the row of its source node to its target node: what comes together there.

    Args:
        x: ``[nodes, …]``.
        src_index, dst_index: ``[edges]``, int32 or int64: the nodes that an edge goes from and to.
        reduce_op: "sum", "mean", "max" or "min".
        out_size: how many rows the result has; as many as *x* when None, or not above 0.

    Returns:
        Zeros for a node that no edge goes to.

    Raises:
        UsageError: another *reduce_op* (a ValueError).
        LabelError: a node that is not there (an IndexError).

    >>> from gradtool import paddle
    >>> x = paddle.to_tensor([[1.0], [10.0], [100.0]])
    >>> paddle.geometric.send_u_recv(x, paddle.to_tensor([0, 1, 2]), paddle.to_tensor([2, 2, 0])).tolist()
    [[100.0], [0.0], [11.0]]
    """
    where = "paddle.geometric.send_u_recv"
    operands = [tensor(v, n, where) for v, n in ((x, "x"), (src_index, "src_index"), (dst_index, "dst_index"))]
    size, attrs = _size(out_size, where)
    attrs["reduce_op"] = _word(reduce_op, "reduce_op", REDUCTIONS).upper()
    return apply("graph_send_recv", *operands, size, attrs=attrs, name=name)[0]  # type: ignore[no-any-return]


def send_ue_recv(
    x: Any,
    y: Any,
    src_index: Any,
    dst_index: Any,
    message_op: str = "add",
    reduce_op: str = "sum",
    out_size: Any = None,
    name: str | None = None,
) -> AnyTensor:
    """As :func:`send_u_recv`, with what each edge carries added to the row that it takes, or multiplied with it.

    Args:
        y: ``[edges, …]``, of the type of *x*; the last dimensions of a row of *x* and of *y* broadcast.
        message_op: "add", "sub", "mul" or "div".

    Raises:
        UsageError: another *message_op* or *reduce_op* (a ValueError).
        ShapeError: another number of rows in *y* than of edges (a ValueError).
        LabelError: a node that is not there (an IndexError).
    """
    where = "paddle.geometric.send_ue_recv"
    x, y = _of_one_type(x, y, where)
    word, y = _message(message_op, y)
    size, attrs = _size(out_size, where)
    attrs |= {"message_op": word, "reduce_op": _word(reduce_op, "reduce_op", REDUCTIONS).upper()}
    ends = tensor(src_index, "src_index", where), tensor(dst_index, "dst_index", where)
    return apply("graph_send_ue_recv", x, y, *ends, size, attrs=attrs, name=name)[0]  # type: ignore[no-any-return]


def send_uv(
    x: Any, y: Any, src_index: Any, dst_index: Any, message_op: str = "add", name: str | None = None
) -> AnyTensor:
    """For each edge the row of *x* of its source node and the row of *y* of its target node, added or multiplied.

    Args:
        x, y: ``[nodes, …]``, of one type; the last dimensions of their rows broadcast.
        message_op: "add", "sub", "mul" or "div".

    Returns:
        ``[edges, …]``.

    Raises:
        UsageError: another *message_op* (a ValueError).
        LabelError: a node that is not there (an IndexError).
    """
    where = "paddle.geometric.send_uv"
    x, y = _of_one_type(x, y, where)
    word, y = _message(message_op, y)
    ends = tensor(src_index, "src_index", where), tensor(dst_index, "dst_index", where)
    return apply("graph_send_uv", x, y, *ends, attrs={"message_op": word}, name=name)  # type: ignore[no-any-return]


def _of_one_type(x: Any, y: Any, where: str) -> tuple[AnyTensor, AnyTensor]:
    x, y = tensor(x, "x", where), tensor(y, "y", where)
    if x.dtype is not y.dtype:
        raise DtypeError(f"{where}: x is {x.dtype.name} and y {y.dtype.name}; they must be of one type.")
    return x, y


def _word(value: Any, what: str, words: Any) -> str:
    """*value*, if it is one of *words*; raises :class:`UsageError` otherwise."""
    if value not in words:
        *first, last = (f"`{w}`" for w in words)
        raise UsageError(f"{what} should be {', '.join(first)} or {last}, but received {value}")
    return str(value)


def _message(how: str, y: Any) -> tuple[str, Any]:
    """The operator's word, and *y* or what it is to take in its place."""
    word = MESSAGES[_word(how, "message_op", MESSAGES)]
    if how == "sub":
        y = -y
    elif how == "div":
        y = 1.0 / y
    return word, y


def _size(value: Any, where: str) -> tuple[Any, dict[str, Any]]:
    """The variable that says how many rows the result has, if it is one, and the attribute."""
    if isinstance(value, Variable):
        return value, {}
    if value is None:
        return None, {"out_size": (0,)}
    if isinstance(value, Tensor) and value.array.size != 1:
        raise UsageError(f"{where}: out_size must be a number, but has the shape {list(value.shape)}.")
    return None, {"out_size": (max(integer(value, "out_size", where), 0),)}
