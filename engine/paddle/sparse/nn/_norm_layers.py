"""Batch normalisation of sparse tensors as layers."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.errors import ShapeError, UsageError
from gradtool.paddle.nn import _batch_norm
from gradtool.paddle.nn import functional as F
from gradtool.paddle.nn.layer import Layer
from gradtool.paddle.sparse._operands import sparse
from gradtool.paddle.sparse._tensor import COO

FORMATS = ("NDHWC", "NHWC")


def _normed(layer: Any, x: Any) -> Any:
    """The values of *x* standardised, channel by channel, over all that are stored."""
    kind = f"paddle.sparse.nn.{type(layer).__name__}"
    x = sparse(x, "x", kind, COO)
    if x.dense_dim() != 1 or x.shape[-1] != layer._num_features:
        raise ShapeError(
            f"{kind}: values of x must have one dimension, of {layer._num_features} channels, but the shape of x is "
            f"{x.shape} and its places have {x.sparse_dim()} dimensions."
        )
    return x.of_values(
        F.batch_norm(
            x.carrier,
            layer._mean,
            layer._variance,
            layer.weight,
            layer.bias,
            training=layer.training,
            momentum=layer._momentum,
            epsilon=layer._epsilon,
            data_format="NC",
            use_global_stats=layer._use_global_stats,
        )
    )


class BatchNorm(_batch_norm.BatchNorm1D):
    """Standardise every channel over the stored elements of a sparse tensor, in testing with moving statistics.

    Args:
        data_format: "NDHWC" or "NHWC".
        use_global_stats: whether to use the moving statistics; those of the batch in training when None.
    """

    layouts = FORMATS

    def _check_data_format(self, input: str) -> None:
        if input not in FORMATS:
            raise UsageError('sparse BatchNorm only support layout of "NDHWC" and "NHWC"')

    def forward(self, input: Any) -> Any:
        return _normed(self, input)


class SyncBatchNorm(_batch_norm.SyncBatchNorm):
    """Batch normalisation over all processes; here there is one, and it does what :class:`BatchNorm` does."""

    layouts = (*_batch_norm.SyncBatchNorm.layouts, *FORMATS)

    def forward(self, x: Any) -> Any:
        return _normed(self, x)

    @classmethod
    def convert_sync_batchnorm(cls, layer: Layer) -> Layer:
        """*layer* with every batch normalisation in it replaced by one over all processes, of the same parameters."""
        if isinstance(layer, BatchNorm):
            norm = cls(layer._num_features, layer._momentum, layer._epsilon, False, False, layer._data_format)
            norm.weight, norm.bias = layer.weight, layer.bias
            norm._mean, norm._variance = layer._mean, layer._variance
            norm._use_global_stats = layer._use_global_stats
            return norm
        if isinstance(layer, _batch_norm._BatchNormBase):
            return _batch_norm.SyncBatchNorm.convert_sync_batchnorm(layer)
        for name, part in layer.named_children():
            changed = cls.convert_sync_batchnorm(part)
            if changed is not part:
                layer.add_sublayer(name, changed)
        return layer
