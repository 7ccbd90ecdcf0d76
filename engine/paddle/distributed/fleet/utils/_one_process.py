"""Calls between several processes: with one, gradients and parameters are already everybody's."""

from __future__ import annotations

from typing import Any

from gradtool.paddle.autograd import PyLayer
from gradtool.paddle.distributed import all_reduce
from gradtool.paddle.distributed.fleet.meta_parallel import ColumnParallelLinear, RowParallelLinear

ColumnSequenceParallelLinear = ColumnParallelLinear
RowSequenceParallelLinear = RowParallelLinear


def fused_allreduce_gradients(parameter_list: Any, hcg: Any) -> None:
    """Sum gradients over all processes: with one they stay as they are."""
    for parameter in parameter_list:
        if parameter.grad is not None:
            all_reduce(parameter.grad)


def fused_allreduce_gradients_with_group(
    parameter_list: Any, group: Any, bucket_size: int = 134217728, scale: Any = None
) -> None:
    """As :func:`fused_allreduce_gradients`."""
    fused_allreduce_gradients(parameter_list, None)


def broadcast_dp_parameters(model: Any, hcg: Any, fuse_params: bool = True) -> None:
    """Give every process the parameters of the first: with one they stay as they are."""


broadcast_mp_parameters = broadcast_sep_parameters = broadcast_sharding_parameters = broadcast_dp_parameters


def broadcast_input_data(hcg: Any, *inputs: Any, **kwargs: Any) -> Any:
    """The data that the first process was given: those of this one."""
    return inputs, kwargs


class _Whole(PyLayer):
    """A sequence that is divided among processes, of which there is one: it stays whole, and so does its gradient."""

    @staticmethod
    def forward(ctx: Any, input: Any, axis: int = 0) -> Any:
        return input

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return grad


ScatterOp = GatherOp = AllGatherOp = ReduceScatterOp = _Whole


def scatter(input: Any, axis: int = 0) -> Any:
    """The part of *input* that this process has: the whole."""
    return input


all_gather = reduce_scatter = scatter


def mark_as_sequence_parallel_parameter(parameter: Any) -> None:
    """Note on the parameter that its gradient is summed over a divided sequence."""
    parameter.sequence_parallel = True


def is_sequence_parallel_parameter(parameter: Any) -> bool:
    """Return whether :func:`mark_as_sequence_parallel_parameter` was called for it."""
    return bool(getattr(parameter, "sequence_parallel", False))


def register_sequence_parallel_allreduce_hooks(
    model: Any, accumulation_steps: int = 1, fuse_sequence_parallel_allreduce: bool = False
) -> None:
    """See that gradients of marked parameters are summed over processes: with one they are whole already."""
