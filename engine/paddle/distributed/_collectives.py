"""Exchange among processes: one process keeps what it has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from gradtool import paddle
from gradtool.engine.core import device_requests
from gradtool.engine.core.errors import ArgumentTypeError, UnsupportedError, UsageError

from ._groups import Group


class Task:
    """An exchange that is done."""

    def wait(self) -> bool:
        """True: nothing has to be waited for."""
        return True

    def is_completed(self) -> bool:
        """True."""
        return True

    def synchronize(self) -> None:
        """Nothing has to be waited for."""


def all_reduce(tensor: Any, op: int = 0, group: Group | None = None, sync_op: bool = True) -> Task:
    """The sum (or what *op* says) of *tensor* over all processes, in its place: of one process, itself.

    >>> from gradtool import paddle
    >>> x = paddle.to_tensor([1.0, 2.0])
    >>> paddle.distributed.all_reduce(x).wait(), x.tolist()
    (True, [1.0, 2.0])
    """
    if device_requests.asked.noting and hasattr(tensor, "array"):
        device_requests.asked.reduced.append(tensor.array.copy())
    return Task()


def broadcast(tensor: Any, src: int = 0, group: Group | None = None, sync_op: bool = True) -> Task:
    """*tensor* of the process *src*, in place of everyone's.

    Raises:
        UsageError: there is no such process (a ValueError).
    """
    _only(src, "src", "broadcast")
    return Task()


def reduce(tensor: Any, dst: int = 0, op: int = 0, group: Group | None = None, sync_op: bool = True) -> Task:
    """The sum (or what *op* says) over all processes, for the process *dst*; it raises as :func:`broadcast` does."""
    _only(dst, "dst", "reduce")
    return Task()


def all_gather(tensor_list: list[Any], tensor: Any, group: Group | None = None, sync_op: bool = True) -> Task:
    """Add everyone's *tensor* to *tensor_list*: a copy without a gradient, as everywhere in Paddle.

    Raises:
        ArgumentTypeError: *tensor_list* is no list (a TypeError).
    """
    _list(tensor_list, "tensor_list", "all_gather").append(_copy(tensor))
    return Task()


def gather(
    tensor: Any,
    gather_list: list[Any] | None = None,
    dst: int = 0,
    group: Group | None = None,
    sync_op: bool = True,
) -> Task:
    """As :func:`all_gather`, for the process *dst* alone."""
    _only(dst, "dst", "gather")
    return all_gather(_list(gather_list, "gather_list", "gather"), tensor)


def scatter(
    tensor: Any,
    tensor_list: Sequence[Any] | None = None,
    src: int = 0,
    group: Group | None = None,
    sync_op: bool = True,
) -> Task:
    """Give *tensor* the values of this process's place in the list of the process *src*.

    Raises:
        UsageError: the list has not one tensor, or there is no such process (a ValueError).
    """
    _only(src, "src", "scatter")
    return _taken(tensor, tensor_list, "scatter")


def reduce_scatter(
    tensor: Any, tensor_list: Sequence[Any], op: int = 0, group: Group | None = None, sync_op: bool = True
) -> Task:
    """Give *tensor* the sum over all processes of this one's place in their lists; it raises as :func:`scatter`."""
    return _taken(tensor, tensor_list, "reduce_scatter")


def alltoall(
    out_tensor_list: list[Any], in_tensor_list: Sequence[Any], group: Group | None = None, sync_op: bool = True
) -> Task:
    """Add what everyone has for this process to *out_tensor_list*; it raises as :func:`scatter` does."""
    if len(in_tensor_list) != 1:
        raise _not_one(len(in_tensor_list), "in_tensor_list", "alltoall")
    _list(out_tensor_list, "out_tensor_list", "alltoall").append(_copy(in_tensor_list[0]))
    return Task()


def alltoall_single(
    out_tensor: Any,
    in_tensor: Any,
    in_split_sizes: Sequence[int] | None = None,
    out_split_sizes: Sequence[int] | None = None,
    group: Group | None = None,
    sync_op: bool = True,
) -> Task:
    """Give *out_tensor* what everyone has for this process in *in_tensor*."""
    return _taken(out_tensor, [in_tensor], "alltoall_single")


def all_gather_object(object_list: list[Any], obj: Any, group: Group | None = None) -> None:
    """Add everyone's *obj* to *object_list*; it raises as :func:`all_gather` does."""
    _list(object_list, "object_list", "all_gather_object").append(obj)


def broadcast_object_list(object_list: list[Any], src: int = 0, group: Group | None = None) -> None:
    """The objects of the process *src* in place of everyone's; it raises as :func:`broadcast` does."""
    _only(src, "src", "broadcast_object_list")


def scatter_object_list(
    out_object_list: list[Any], in_object_list: Sequence[Any] | None = None, src: int = 0, group: Group | None = None
) -> None:
    """Make *out_object_list* hold this process's object of the process *src*; it raises as :func:`scatter` does."""
    _only(src, "src", "scatter_object_list")
    if in_object_list is None or len(in_object_list) != 1:
        raise _not_one(len(in_object_list or ()), "in_object_list", "scatter_object_list")
    out_object_list[:] = in_object_list


def barrier(group: Group | None = None) -> None:
    """Wait for all processes: there are no others."""


def wait(tensor: Any, group: Group | None = None, use_calc_stream: bool = True) -> None:
    """Wait until *tensor* has been exchanged: it has."""


def send(tensor: Any, dst: int = 0, group: Group | None = None, sync_op: bool = True) -> NoReturn:
    """Send to another process.

    Raises:
        UnsupportedError: always: there is none (a ValueError).
    """
    raise _alone("send")


def recv(tensor: Any, src: int = 0, group: Group | None = None, sync_op: bool = True) -> NoReturn:
    """Receive from another process.

    Raises:
        UnsupportedError: always: there is none (a ValueError).
    """
    raise _alone("recv")


def isend(tensor: Any, dst: int, group: Group | None = None) -> NoReturn:
    """As :func:`send`."""
    raise _alone("isend")


def irecv(tensor: Any, src: int | None = None, group: Group | None = None) -> NoReturn:
    """As :func:`recv`."""
    raise _alone("irecv")


def send_object_list(
    object_list: list[Any], dst: int | None = None, group: Group | None = None, dst_in_group: int | None = None
) -> NoReturn:
    """As :func:`send`."""
    raise _alone("send_object_list")


def recv_object_list(
    object_list: list[Any], src: int | None = None, group: Group | None = None, src_in_group: int | None = None
) -> NoReturn:
    """As :func:`recv`."""
    raise _alone("recv_object_list")


class P2POp:
    """One of the exchanges of :func:`batch_isend_irecv`.

    Args:
        op: ``isend`` or ``irecv``.
        tensor: what is sent, or where it is received.
        peer: the other process.
    """

    def __init__(self, op: Any, tensor: Any, peer: int, group: Group | None = None) -> None:
        if op not in (isend, irecv):
            raise ArgumentTypeError(
                "P2POp: 'op' must be paddle.distributed.isend or paddle.distributed.irecv, "
                f"but received {getattr(op, '__name__', op)!r}."
            )
        self.op, self.tensor, self.peer, self.group = op, tensor, peer, group


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[Task]:
    """Several exchanges with others: of none, nothing; it raises as :func:`send` does."""
    if p2p_op_list:
        raise _alone("batch_isend_irecv")
    return []


def _taken(tensor: Any, values: Sequence[Any] | None, function: str) -> Task:
    if values is None or len(values) != 1:
        raise _not_one(len(values or ()), "tensor_list", function)
    with paddle.no_grad():
        tensor.set_value(values[0])
    return Task()


def _copy(tensor: Any) -> Any:
    copy = tensor.detach().clone()
    copy.stop_gradient = True
    return copy


def _list(value: Any, name: str, function: str) -> list[Any]:
    if not isinstance(value, list):
        raise ArgumentTypeError(
            f"paddle.distributed.{function}: '{name}' must be a list, but received {type(value).__name__}."
        )
    return value


def _only(rank: int, name: str, function: str) -> None:
    if rank != 0:
        raise UsageError(f"paddle.distributed.{function}: '{name}' is {rank}, and there is one process, 0.")


def _not_one(count: int, name: str, function: str) -> UsageError:
    return UsageError(
        f"paddle.distributed.{function}: '{name}' must have one element for each process, of which there is one, "
        f"but it has {count}."
    )


def _alone(function: str) -> UnsupportedError:
    return UnsupportedError(
        f"paddle.distributed.{function}: there is no other process, gradtool computes in one.",
        hint="call it only where paddle.distributed.get_world_size() is more than 1",
    )
