"""Calls of sparse tensors, of segments and of messages, as expressions; ``paddle`` is Paddle or gradtool.

``pull(f, …)`` gives the result of *f* and the gradients of its operands, where the result itself is the gradient to
start with.
"""

from __future__ import annotations

from typing import Any

import numpy as np

ELEMENTWISE = "abs asin asinh atan atanh deg2rad expm1 log1p neg rad2deg sin sinh sqrt square tan tanh"

CREATION = (
    "coo()",
    "csr()",
    "S.sparse_coo_tensor([[0, 0, 0], [1, 1, 0]], [1, 2, 3])",
    "S.sparse_coo_tensor(np.array([[0, 1]], 'int32'), np.array([1.0, 2.0]))",
    "S.sparse_coo_tensor([[0, 1]], np.array([1.0, 2.0]), [4], dtype='float32')",
    "S.sparse_coo_tensor([[0, 0], [1, 1]], [[1.0, 2.0], [3.0, 4.0]], [2, 2, 2])",
    "S.sparse_coo_tensor([[0, 1]], t([1.0, 2.0]), [4])",
    "S.sparse_csr_tensor([0, 2, 3], [0, 2, 1], [1, 2, 3])",
    "S.sparse_csr_tensor([0, 1, 2, 0, 1, 2], [0, 1, 0, 1], [1.0, 2.0, 3.0, 4.0], [2, 2, 2])",
    "S.sparse_csr_tensor(np.array([0, 1], 'int32'), np.array([0], 'int32'), np.array([2.0]))",
    "S.sparse_coo_tensor([[0, 0, 0], [1, 1, 0]], [1.0, 2.0, 3.0]).coalesce()",
    "t([[0.0, 1.0], [2.0, 0.0]]).to_sparse_coo(2)",
    "t([[0.0, 1.0], [2.0, 0.0]]).to_sparse_coo(1)",
    "t([[0.0, 1.0], [2.0, 0.0]]).to_sparse_csr()",
    "batch()",
    "coo().to_sparse_csr()",
    "csr().to_sparse_coo(2)",
    "batch().to_sparse_coo(3)",
    "coo().to_dense()",
    "csr().to_dense()",
    "(coo().nnz(), coo().is_sparse(), coo().is_sparse_coo(), coo().is_sparse_csr(), coo().is_dense())",
    "(csr().nnz(), csr().is_sparse(), csr().is_sparse_coo(), csr().is_sparse_csr(), csr().is_dense())",
    "(t([1.0]).is_sparse(), t([1.0]).is_dense(), t([1.0]).sparse_dim(), t([[1.0]]).dense_dim())",
    "(coo().sparse_dim(), coo().dense_dim(), csr().sparse_dim(), volume().sparse_dim(), volume().dense_dim())",
    "(coo().indices(), coo().values(), csr().crows(), csr().cols(), csr().values())",
    "(coo(), coo().is_coalesced(), csr().to_sparse_coo(2).is_coalesced(), t([1.0]).to_sparse_coo(1).is_coalesced())",
)
FUNCTIONS = (
    *(f"pull(S.{name}, {x}())" for name in ELEMENTWISE.split() for x in ("coo", "csr")),
    "pull(lambda x: S.pow(x, 3.0), coo())",
    "pull(lambda x: S.cast(x, 'int32', 'float64'), coo())",
    "S.cast(csr(), None, 'int32')",
    "S.isnan(coo())",
    "S.sin(S.sparse_coo_tensor([[0]], [1], [2]))",
    *(f"pull(S.{name}, {x}(), other_{x}())" for name in ("add", "subtract", "multiply") for x in ("coo", "csr")),
    "pull(S.divide, csr(), csr())",
    "S.divide(coo(), other_coo())",
    "pull(lambda x: S.multiply(x, 2.0), coo())",
    "pull(lambda x: S.divide(x, 2.0), csr())",
    "S.add(coo(), S.cast(coo(), None, 'float64'))",
    "pull(lambda x: S.mask_as(x, coo()), dense())",
    "pull(lambda x: S.mask_as(x, csr()), dense())",
    "S.is_same_shape(coo(), csr())",
    "S.is_same_shape(coo(), t([1.0]))",
    "pull(lambda x: S.sum(x, 0), coo())",
    "pull(lambda x: S.sum(x, 1, keepdim=True), coo())",
    "pull(lambda x: S.sum(x, -1), csr())",
    "S.sum(coo(), keepdim=True)",
    "S.sum(csr())",
    "S.sum(volume(), 1)",
    "S.sum(volume(), 4)",
    "pull(lambda x: S.reshape(x, [3, 2]), coo())",
    "S.reshape(coo(), [-1])",
    "S.reshape(coo(), [1, 0, -1])",
    "pull(lambda x: S.reshape(x, [1, 2, 3]), csr())",
    "S.reshape(batch(), [4, 2])",
    "pull(lambda x: S.transpose(x, [1, 0]), coo())",
    "pull(lambda x: S.transpose(x, [1, 0]), csr())",
    "S.transpose(batch(), [0, 2, 1])",
    "S.transpose(batch(), [1, 0, 2])",
    "pull(lambda x: S.slice(x, [0, 1], [0, 1], [1, 3]), coo())",
    "S.slice(csr(), [0, 1], [0, 1], [1, 3])",
    "S.slice(coo(), [1], [-2], [5])",
    "S.slice(batch(), [0], [0], [1])",
)
NETWORKS = (
    "pull(SF.relu, signed())",
    "pull(SF.relu6, signed())",
    "pull(lambda x: SF.leaky_relu(x, 0.1), signed())",
    "pull(SF.softmax, coo())",
    "pull(SF.softmax, csr())",
    "pull(SF.softmax, batch())",
    "pull(lambda x: SF.softmax(x, 0), coo())",
    "pull(SF.conv2d, image(), weight(3, 3, 2, 3))",
    "pull(lambda x, w, b: SF.conv2d(x, w, b, padding=1), image(), weight(3, 3, 2, 3), weight(3))",
    "pull(SF.subm_conv2d, image(), weight(3, 3, 2, 3))",
    "pull(lambda x, w: SF.conv3d(x, w, stride=2, padding=1), volume(), weight(3, 3, 3, 2, 2))",
    "SF.conv3d(volume(), weight(3, 2, 3, 2, 2), None, [1, 2, 1], [1, 0, 2])",
    "SF.conv3d(volume(), weight(2, 2, 2, 2, 2), dilation=2)",
    "SF.conv3d(volume(), weight(3, 3, 3, 2, 2), padding=[1, 1, 1, 1, 1, 1])",
    "pull(SF.subm_conv3d, volume(), weight(3, 3, 3, 2, 2))",
    "pull(lambda x, w, b: SF.subm_conv3d(x, w, b), volume(), weight(1, 3, 3, 2, 2), weight(2))",
    "pull(lambda x: SF.max_pool3d(x, [1, 2, 2], 1), volume())",
    "pull(lambda x: SF.max_pool3d(x, 2), tied())",
    "SF.max_pool3d(S.neg(volume()), 2, padding=1)",
    "pull(SN.BatchNorm(2), volume())",
    "SN.BatchNorm(2, data_format='NHWC')(image())",
)
GRAPHS = (
    *(f"pull(lambda x: G.segment_{how}(x, i([0, 0, 2])), rows())" for how in ("sum", "mean", "max", "min")),
    "G.segment_sum(i([[1, 2], [3, 4], [5, 6]]), i([0, 0, 2], 'int32'))",
    "G.segment_mean(i([[1, 2], [4, 4], [5, 6]]), i([0, 0, 2]))",
    *(f"pull(lambda x: G.send_u_recv(x, *edges(), '{how}'), rows())" for how in ("sum", "mean", "max", "min")),
    "G.send_u_recv(rows(), *edges(), 'min', out_size=5)",
    "G.send_u_recv(rows(), *edges(), out_size=i(3))",
    "G.send_u_recv(rows(), *edges(), out_size=0)",
    *(
        f"pull(lambda x, y: G.send_ue_recv(x, y, *edges(), '{what}', '{how}'), rows(), weight(4, 1))"
        for what, how in (("add", "sum"), ("mul", "mean"), ("sub", "max"), ("div", "min"))
    ),
    "G.send_ue_recv(rows(), t([1.0, 2.0, 3.0, 4.0]), *edges())",
    *(
        f"pull(lambda x, y: G.send_uv(x, y, *edges(), '{what}'), rows(), weight(3, 1))"
        for what in ("add", "sub", "mul", "div")
    ),
    "G.reindex_graph(i([0, 1, 2]), i([8, 9, 0, 4, 7, 6, 7]), i([2, 3, 2], 'int32'))",
    "G.reindex_graph(i([0, 1, 0], 'int32'), i([8, 9, 0, 4, 7, 6, 7], 'int32'), i([2, 3, 2], 'int32'))",
    "G.reindex_heter_graph(i([0, 1]), [i([8, 9, 0]), i([0, 2])], [i([2, 1], 'int32'), i([1, 1], 'int32')])",
    "paddle.incubate.graph_reindex(i([0, 1]), i([8, 1, 8]), i([2, 1], 'int32'))",
    "paddle.incubate.graph_send_recv(rows(), *edges(), 'mean')",
    "paddle.incubate.segment_max(rows(), i([0, 0, 2]))",
)
REFUSALS = (
    "S.sparse_coo_tensor([[0, 5], [1, 1]], [1.0, 2.0], [2, 2])",
    "S.sparse_coo_tensor([[0, 1], [1, 1]], [1.0, 2.0, 3.0], [2, 2])",
    "S.sparse_coo_tensor([[0, 1], [1, 1]], [1.0, 2.0], [2, 2, 2])",
    "S.sparse_coo_tensor([0, 1], [1.0, 2.0], [2])",
    "S.sparse_coo_tensor([[0.0, 1.0]], [1.0, 2.0], [2])",
    "S.sparse_csr_tensor([0, 2, 4], [0, 2, 1], [1.0, 2.0, 3.0], [2, 3])",
    "S.sparse_csr_tensor([0, 2], [0, 2, 1], [1.0, 2.0, 3.0], [2, 3])",
    "S.sparse_csr_tensor([1, 2, 3], [0, 2, 1], [1.0, 2.0, 3.0], [2, 3])",
    "coo().crows()",
    "csr().indices()",
    "csr().is_coalesced()",
    "csr().coalesce()",
    "t([1.0]).values()",
    "t([1.0]).nnz()",
    "t([1.0]).crows()",
    "t([1.0]).is_coalesced()",
    "t([1.0]).to_sparse_csr()",
    "t([1.0]).to_sparse_coo(2)",
    "S.sin(t([1.0]))",
    "S.sin(3)",
    "S.add(coo(), csr())",
    "S.add(coo(), S.sparse_coo_tensor([[0], [0]], [1.0], [2, 4]))",
    "S.multiply(coo(), t([1.0]))",
    "S.matmul(t([[1.0, 2.0]]), coo())",
    "S.sum(csr(), 0)",
    "SF.softmax(csr(), 0)",
    "SN.Conv3D(2, 3, 2, groups=2)",
    "SN.Conv3D(2, 3, 2, padding_mode='circular')",
    "SN.Conv3D(2, 3, 2, data_format='NCDHW')",
    "SN.BatchNorm(2, data_format='NCDHW')(volume())",
    "SN.BatchNorm(3)(volume())",
    "G.segment_sum(rows(), i([2, 0, 0]))",
    "G.segment_sum(rows(), i([0, 0]))",
    "G.segment_sum(rows(), t([0.0, 0.0, 1.0]))",
    "G.segment_sum(rows(), i([-1, 0, 0]))",
    "G.segment_sum(3, i([0]))",
    "G.send_u_recv(rows(), *edges(), 'prod')",
    "G.send_u_recv(rows(), i([0, 5]), i([1, 1]))",
    "G.send_u_recv(rows(), i([0, 1]), i([1]))",
    "G.send_u_recv(rows(), *edges(), 'min', out_size=2)",
    "G.send_ue_recv(rows(), weight(3, 1), *edges())",
    "G.send_ue_recv(rows(), weight(4, 1), *edges(), 'pow')",
    "G.send_ue_recv(i([[1], [2]]), weight(2, 1), i([0, 1]), i([1, 1]))",
    "G.reindex_graph(i([0, 1]), i([8, 1, 8]), i([2, 1]))",
    "G.sample_neighbors(i([3, 7]), i([0, 2]), i([0]), return_eids=True)",
)
CALLS = (*CREATION, *FUNCTIONS, *NETWORKS, *GRAPHS, *REFUSALS)


def names(paddle: Any) -> dict[str, Any]:
    """What the expressions call."""
    import importlib

    package = paddle.__name__
    sparse = importlib.import_module(f"{package}.sparse")

    def dense(values: Any, dtype: str = "float32") -> Any:
        return paddle.to_tensor(values, dtype=dtype)

    def volume(values: Any, size: int = 3) -> Any:
        places = [[0, 0, 0, 0], [0, 0, 2, 2], [0, 1, 2, 2], [0, 2, 1, 2]]
        return sparse.sparse_coo_tensor(
            [p[: len(values)] for p in places], values, [1, size, size, size, len(values[0])]
        )

    def pull(function: Any, *operands: Any) -> Any:
        leaves = [x.detach() for x in operands]
        for leaf in leaves:
            leaf.stop_gradient = False
        out = function(*leaves)
        out.backward(out)
        return (out, *(leaf.grad for leaf in leaves))

    table = [[1.5, 0.25, 2.0], [0.5, 3.0, -1.0]]
    matrix = [[[0, 0, 1], [0, 2, 1]], [0.5, 0.25, 0.75], [2, 3]]
    other = [[[0, 1, 1], [0, 1, 2]], [4.0, 5.0, 6.0], [2, 3]]
    rows = [[0, 2, 3], [0, 2, 1], [0.5, 0.25, 0.75], [2, 3]]
    more = [[0, 1, 3], [0, 1, 2], [4.0, 5.0, 6.0], [2, 3]]
    return {
        "G": importlib.import_module(f"{package}.geometric"),
        "S": sparse,
        "SF": sparse.nn.functional,
        "SN": sparse.nn,
        "batch": lambda: dense([[[0.0, 1.0], [2.0, 0.0]], [[1.0, 0.0], [0.0, 0.0]]]).to_sparse_csr(),
        "coo": lambda: sparse.sparse_coo_tensor(*matrix),
        "csr": lambda: sparse.sparse_csr_tensor(*rows),
        "dense": lambda: dense(table),
        "edges": lambda: (dense([0, 1, 2, 0], "int64"), dense([1, 2, 1, 0], "int64")),
        "i": lambda values, dtype="int64": dense(values, dtype),
        "image": lambda: sparse.sparse_coo_tensor(
            [[0, 0, 0], [0, 1, 2], [0, 2, 1]], [[1.0, 2.0], [3.0, -4.0], [5.0, 6.0]], [1, 3, 3, 2]
        ),
        "np": np,
        "other_coo": lambda: sparse.sparse_coo_tensor(*other),
        "other_csr": lambda: sparse.sparse_csr_tensor(*more),
        "paddle": paddle,
        "pull": pull,
        "rows": lambda: dense([[1.0, 2.5], [3.0, 4.0], [0.5, 6.0]]),
        "signed": lambda: sparse.sparse_coo_tensor([[0, 1, 2, 3]], [-1.0, 0.0, 2.0, 7.0], [5]),
        "t": dense,
        "tied": lambda: volume([[1.0], [1.0], [-1.0]], 4),
        "volume": lambda: volume([[1.0, 2.0], [3.0, -4.0], [5.0, 6.0], [-0.5, 0.25]]),
        "weight": lambda *shape: dense(np.cos(np.arange(np.prod(shape)).reshape(shape)).astype("float32")),
    }


def answer(expression: str, space: dict[str, Any]) -> Any:
    """What *expression* gives, or the classes of Python that its error is of."""
    try:
        return told(eval(expression, dict(space)), space["paddle"])
    except Exception as error:
        kinds = [k.__name__ for k in type(error).__mro__ if k.__module__ == "builtins"]
        return {"raises": [k for k in kinds if k not in ("object", "BaseException", "Exception")]}


def told(value: Any, paddle: Any) -> Any:
    """*value* as JSON has it; tensors with their format, type and parts."""
    if isinstance(value, (list, tuple)):
        return [told(v, paddle) for v in value]
    if not isinstance(value, paddle.Tensor):
        return value
    form, parts = "dense", [value]
    if value.is_sparse_coo():
        form, parts = "coo", [value.indices(), value.values()]
    elif value.is_sparse_csr():
        form, parts = "csr", [value.crows(), value.cols(), value.values()]
    kinds = [str(p.dtype).rpartition(".")[2] for p in parts]
    return {form: list(value.shape), "types": kinds, "parts": [p.numpy().tolist() for p in parts]}
