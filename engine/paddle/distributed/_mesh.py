"""Meshes of processes, and how tensors would be spread over them: a mesh of one process changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtool import paddle
from gradtool.engine.core.errors import UnsupportedError, UsageError
from gradtool.engine.core.value import AnyTensor


class ReduceType:
    """Ways in which the parts of a :class:`Partial` tensor become one."""

    kRedSum = 0
    kRedMax = 1
    kRedMin = 2
    kRedProd = 3
    kRedAvg = 4
    kRedAny = 5
    kRedAll = 6


class Placement:
    """Way in which a tensor is spread along one axis of a mesh."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Return whether each process has a part of the axis *dim*, or of any."""
        return False

    def is_replicated(self) -> bool:
        """Return whether each process has all of it."""
        return False

    def is_partial(self) -> bool:
        """Return whether each process has a term of it."""
        return False

    def __eq__(self, other: object) -> bool:
        return repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


class Replicate(Placement):
    """Each process has all of it."""

    def is_replicated(self) -> bool:
        """True."""
        return True

    def __repr__(self) -> str:
        return "Replicate()"


class Shard(Placement):
    """Each process has a part of an axis.

    Args:
        dim: which axis.
    """

    def __init__(self, dim: int) -> None:
        self._dim = dim

    def get_dim(self) -> int:
        """Return the axis."""
        return self._dim

    def is_shard(self, dim: int | None = None) -> bool:
        """Return whether it is that axis; True when *dim* is None."""
        return dim is None or dim == self._dim

    def __repr__(self) -> str:
        return f"Shard(dim={self._dim})"


_REDUCTIONS = ("SUM", "MAX", "MIN", "PROD", "AVG", "ANY", "ALL")


class Partial(Placement):
    """Each process has a term of it.

    Args:
        reduce_type: one of :class:`ReduceType`.
    """

    def __init__(self, reduce_type: int = ReduceType.kRedSum) -> None:
        self._reduce_type = reduce_type

    def reduce_type(self) -> int:
        """Return the way in which the terms become one."""
        return self._reduce_type

    def is_partial(self) -> bool:
        """True."""
        return True

    def __repr__(self) -> str:
        return f"Partial(reduce_type={_REDUCTIONS[self._reduce_type]})"


class ProcessMesh:
    """Processes in an array, here always this one.

    Args:
        mesh: their numbers, nested lists or an array.
        dim_names: a name for each axis.
        shape: in place of *mesh*, with
        process_ids: the numbers in order.

    Raises:
        UnsupportedError: it has several processes (a ValueError).
        UsageError: there are not as many names as axes, or neither *mesh* nor *shape* is given (a ValueError).

    >>> from gradtool import paddle
    >>> mesh = paddle.distributed.ProcessMesh([0], dim_names=["x"])
    >>> mesh.shape, mesh.process_ids
    ([1], [0])
    """

    def __init__(
        self,
        mesh: Any = None,
        dim_names: Sequence[str] | None = None,
        shape: Sequence[int] | None = None,
        process_ids: Sequence[int] | None = None,
    ) -> None:
        if mesh is None and shape is None:
            raise UsageError("ProcessMesh: 'mesh' or 'shape' with 'process_ids' must be given.")
        numbers = np.asarray(mesh if mesh is not None else process_ids, dtype=int)
        self.mesh = numbers if mesh is not None else numbers.reshape(shape or ())
        if self.mesh.size != 1:
            raise UnsupportedError(
                f"paddle.distributed.ProcessMesh: it has {self.mesh.size} processes, and gradtool computes in one.",
                hint="a mesh of one process, such as ProcessMesh([0]), computes the same values",
            )
        self.dim_names = [f"d{i}" for i in range(self.mesh.ndim)] if dim_names is None else [*dim_names]
        if len(self.dim_names) != self.mesh.ndim:
            raise UsageError(f"ProcessMesh: {len(self.dim_names)} names for {self.mesh.ndim} axes.")

    @property
    def shape(self) -> list[int]:
        """Number of processes along each axis."""
        return [*self.mesh.shape]

    @property
    def ndim(self) -> int:
        """Number of its axes."""
        return self.mesh.ndim

    @property
    def size(self) -> int:
        """Number of its processes."""
        return self.mesh.size

    @property
    def process_ids(self) -> list[int]:
        """Their numbers, in order."""
        return [int(n) for n in self.mesh.ravel()]

    def get_dim_size(self, dim_name: str) -> int:
        """Return the number of processes along the axis of that name."""
        return self.shape[self.dim_names.index(dim_name)]

    def get_rank_by_dim_and_process_id(self, dim: str | int, process_id: int) -> int:
        """The place of a process along an axis, -1 where it is not in the mesh."""
        return 0 if process_id in self.process_ids else -1

    def contains(self, process_id: int) -> bool:
        """Return whether that process is in it."""
        return process_id in self.process_ids

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProcessMesh) and (self.shape, self.process_ids) == (other.shape, other.process_ids)

    def __hash__(self) -> int:
        return hash((*self.shape, *self.process_ids))

    def __repr__(self) -> str:
        return f"{{shape: {self.shape}, process_ids: {self.process_ids}, dim_names: [{', '.join(self.dim_names)}]}}"


_MESH: list[ProcessMesh] = []


def set_mesh(mesh: ProcessMesh) -> None:
    """Have :func:`get_mesh` give *mesh*."""
    _MESH[:] = [mesh]


def get_mesh() -> ProcessMesh | None:
    """The mesh that was set, None where none was."""
    return _MESH[0] if _MESH else None


def shard_tensor(
    data: Any,
    mesh: ProcessMesh,
    placements: Sequence[Placement],
    dtype: Any = None,
    place: Any = None,
    stop_gradient: bool | None = None,
) -> Any:
    """*data* as a tensor, spread over a mesh of one process: itself where it is one already.

    >>> from gradtool import paddle
    >>> D = paddle.distributed
    >>> D.shard_tensor([1.0, 2.0], D.ProcessMesh([0]), [D.Shard(0)]).tolist()
    [1.0, 2.0]
    """
    if isinstance(data, AnyTensor) and dtype is None:
        if stop_gradient is not None:
            data.stop_gradient = stop_gradient
        return data
    return paddle.to_tensor(data, dtype=dtype, stop_gradient=stop_gradient is not False)


def dtensor_from_fn(
    fn: Callable[..., Any], mesh: ProcessMesh, placements: Sequence[Placement], *args: Any, **kwargs: Any
) -> Any:
    """Return the tensor that *fn* makes, spread over a mesh of one process."""
    return shard_tensor(fn(*args, **kwargs), mesh, placements)


def reshard(dist_tensor: Any, mesh: ProcessMesh, placements: Sequence[Placement]) -> Any:
    """*dist_tensor*, spread otherwise over a mesh of one process: itself."""
    return dist_tensor


def unshard_dtensor(dist_tensor: Any) -> Any:
    """All of *dist_tensor*: itself."""
    return dist_tensor


def shard_layer(
    layer: Any,
    process_mesh: ProcessMesh,
    shard_fn: Callable[[str, Any, ProcessMesh], None] | None = None,
    input_fn: Callable[[Any, ProcessMesh], Any] | None = None,
    output_fn: Callable[[Any, ProcessMesh], Any] | None = None,
) -> Any:
    """*layer* itself, whose parts *shard_fn* has seen; what goes in and comes out goes through the other two."""
    if shard_fn is not None:
        for name, part in layer.named_sublayers(include_self=True):
            shard_fn(name, part, process_mesh)
    if input_fn is not None:
        layer.register_forward_pre_hook(lambda _, inputs: input_fn(inputs, process_mesh))
    if output_fn is not None:
        layer.register_forward_post_hook(lambda _, __, outputs: output_fn(outputs, process_mesh))
    return layer


def shard_optimizer(optimizer: Any, shard_fn: Any = None, gradient_accumulation_steps: int = 1) -> Any:
    """*optimizer* itself.

    Raises:
        UnsupportedError: gradients of several steps shall be added up (a ValueError).
    """
    if gradient_accumulation_steps != 1:
        raise UnsupportedError(
            "paddle.distributed.shard_optimizer: gradient_accumulation_steps is not in gradtool.",
            hint="call optimizer.step() and optimizer.clear_grad() after as many backward passes",
        )
    return optimizer


def shard_scaler(scaler: Any) -> Any:
    """*scaler* itself."""
    return scaler


def shard_dataloader(
    dataloader: Any,
    meshes: Any,
    input_keys: Sequence[str] | None = None,
    shard_dims: Any = None,
    is_dataset_splitted: bool = False,
    dense_tensor_idx: Any = None,
) -> Any:
    """*dataloader* itself."""
    return dataloader


def shard_op(
    op: Callable[..., Any],
    process_mesh: ProcessMesh | None = None,
    in_shard_specs: Any = None,
    out_shard_specs: Any = None,
    **kwargs: Any,
) -> Callable[..., Any]:
    """*op* itself."""
    return op


def local_map(
    func: Callable[..., Any],
    out_placements: Any,
    in_placements: Any = None,
    process_mesh: ProcessMesh | None = None,
    reshard_inputs: bool = False,
) -> Callable[..., Any]:
    """*func* itself: the part of a tensor that this process has is all of it."""
    return func


class _Stage:
    """A part of the optimizer's state would be spread over processes.

    Args:
        sharding_mesh_dim: along which axis of the mesh.
    """

    def __init__(self, sharding_mesh_dim: int | str, mesh: ProcessMesh | None = None) -> None:
        self.sharding_mesh_dim, self.mesh = sharding_mesh_dim, mesh

    def __call__(self, key: str, param: Any, tensor: Any) -> Any:
        """*tensor* itself."""
        return tensor


class ShardingStage1(_Stage):
    """Stage in which the state of the optimizer would be spread over processes."""


class ShardingStage2(_Stage):
    """Stage in which the state of the optimizer, and gradients, would be spread over processes."""


class ShardingStage3(_Stage):
    """Stage in which the state of the optimizer, gradients and parameters would be spread over processes."""


class ParallelMode:
    """Ways to divide work among processes."""

    DATA_PARALLEL = 0
    TENSOR_PARALLEL = 1
    PIPELINE_PARALLEL = 2
    SHARDING_PARALLEL = 3
    SEGMENT_PARALLEL = 4


def group_sharded_parallel(
    model: Any, optimizer: Any, level: str, scaler: Any = None, group: Any = None, **options: Any
) -> tuple[Any, Any, Any]:
    """*model*, *optimizer* and *scaler* themselves.

    Args:
        level: ``"os"``, ``"os_g"`` or ``"p_g_os"``: what would be spread.

    Raises:
        UsageError: *level* is another one (a ValueError).
    """
    if level not in ("os", "os_g", "p_g_os"):
        raise UsageError(f"group_sharded_parallel: 'level' must be os, os_g or p_g_os, but received {level!r}.")
    return model, optimizer, scaler


def save_group_sharded_model(model: Any, output: str, optimizer: Any = None) -> None:
    """Write the state of *model* to ``model.pdmodel`` in the folder *output*, and *optimizer*'s to ``model.pdopt``."""
    paddle.save(model.state_dict(), f"{output}/model.pdmodel")
    if optimizer is not None:
        paddle.save(optimizer.state_dict(), f"{output}/model.pdopt")


def save_state_dict(state_dict: dict[str, Any], path: str, *args: Any, **options: Any) -> None:
    """Write a state to a folder: the part that this process has, which is all, to ``0_0.distcp``."""
    paddle.save(state_dict, f"{path}/0_0.distcp")


def load_state_dict(state_dict: dict[str, Any], path: str, *args: Any, **options: Any) -> None:
    """Give the tensors of *state_dict* the values that :func:`save_state_dict` wrote to the folder *path*.

    Raises:
        UsageError: one of them was not written (a ValueError).
    """
    written = paddle.load(f"{path}/0_0.distcp")
    missing = [name for name in state_dict if name not in written]
    if missing:
        raise UsageError(f"paddle.distributed.load_state_dict: {path} has no {', '.join(missing)}.")
    for name, tensor in state_dict.items():
        tensor.set_value(written[name])
