"""Layers whose weights would be divided among processes: of one process, whole."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core import state
from gradtool.paddle.nn import functional as F
from gradtool.paddle.nn.layer import Layer


class _Linear(Layer):
    """A linear layer under the name that Paddle gives it."""

    def __init__(self, in_features: int, out_features: int, weight_attr: Any, bias: bool, name: str | None) -> None:
        super().__init__(name_scope="linear", dtype=state.default_dtype())
        self.weight: Any = self.create_parameter([in_features, out_features], weight_attr)
        self.bias: Any = self.create_parameter([out_features], None, is_bias=True) if bias else None
        self.name = name

    def forward(self, x: Any) -> Any:
        return F.linear(x, self.weight, self.bias, self.name)


class ColumnParallelLinear(_Linear):
    """A linear layer whose columns would be divided.

    Args:
        in_features, out_features: sizes.
        weight_attr: of the weight.
        has_bias: whether it has a bias; none when None.
        gather_output, fuse_matmul_bias, mp_group: about the division; not used.

    >>> from gradtool import paddle
    >>> from gradtool.paddle.distributed.fleet import meta_parallel
    >>> meta_parallel.ColumnParallelLinear(4, 6, has_bias=True)(paddle.ones([2, 4])).shape
    [2, 6]
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        has_bias: bool | None = None,
        gather_output: bool = True,
        fuse_matmul_bias: bool = False,
        mp_group: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(in_features, out_features, weight_attr, bool(has_bias), name)
        self.gather_output, self.is_mp, self.world_size = gather_output, False, 1


class RowParallelLinear(_Linear):
    """A linear layer whose rows would be divided.

    Args:
        in_features, out_features: sizes.
        weight_attr: of the weight.
        has_bias: whether it has a bias.
        input_is_parallel, fuse_matmul_bias, mp_group: about the division; not used.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        has_bias: bool = True,
        input_is_parallel: bool = False,
        fuse_matmul_bias: bool = False,
        mp_group: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(in_features, out_features, weight_attr, has_bias, name)
        self.input_is_parallel, self.is_mp, self.world_size = input_is_parallel, False, 1


class VocabParallelEmbedding(Layer):
    """An embedding whose rows would be divided.

    Args:
        num_embeddings, embedding_dim: sizes.
        weight_attr: of the weight.
        mp_group: about the division; not used.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        weight_attr: Any = None,
        mp_group: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name_scope="embedding", dtype=state.default_dtype())
        self.weight: Any = self.create_parameter([num_embeddings, embedding_dim], weight_attr)
        self.is_mp, self.world_size, self.name = False, 1, name

    def forward(self, x: Any) -> Any:
        return F.embedding(x, self.weight, name=self.name)


class ParallelCrossEntropy(Layer):
    """Cross entropy of logits that would be divided by classes; a loss for each sample, of ``[…, 1]``.

    Args:
        mp_group: about the division; not used.
        ignore_index: of a label without a loss.
    """

    def __init__(self, mp_group: Any = None, name: str | None = None, ignore_index: int = -100) -> None:
        super().__init__()
        self.ignore_index, self.name = ignore_index, name

    def forward(self, input: Any, label: Any) -> Any:
        return F.softmax_with_cross_entropy(input, label, ignore_index=self.ignore_index)
