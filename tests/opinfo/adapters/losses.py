"""Adapters: losses and distances."""

from __future__ import annotations

from typing import Any

from tests.opinfo.table import Lacks, adapter, named, needs


def losses(names: str, **renamed: str) -> None:
    for word in names.split():
        theirs, _, ours = word.partition("=")
        named(f"nn.functional.{theirs}={ours or theirs}", within="nn.functional.", **renamed)


losses("l1_loss mse_loss soft_margin_loss margin_ranking_loss hinge_embedding_loss cosine_embedding_loss")
losses("multi_margin_loss multilabel_margin_loss=multi_label_margin_loss")
losses("multilabel_soft_margin_loss=multi_label_soft_margin_loss binary_cross_entropy")
losses("binary_cross_entropy_with_logits triplet_margin_loss", eps="epsilon")
losses("poisson_nll_loss gaussian_nll_loss pairwise_distance", eps="epsilon")


@adapter("nn.functional.triplet_margin_with_distance_loss")
def _(paddle: Any, a: Any, p: Any, n: Any, **options: Any) -> Any:
    return paddle.nn.functional.triplet_margin_with_distance_loss(a, p, n, **options)


@adapter("nn.functional.kl_div")
def _(paddle: Any, x: Any, y: Any, reduction: str = "mean", log_target: Any = False) -> Any:
    return paddle.nn.functional.kl_div(x, y, reduction, log_target)


@adapter("nn.functional.smooth_l1_loss")
def _(paddle: Any, x: Any, y: Any, reduction: str = "mean", beta: Any = 1.0) -> Any:
    needs(beta, "beta=0")
    return paddle.nn.functional.smooth_l1_loss(x, y, reduction, beta, is_huber=False)


@adapter("nn.functional.huber_loss")
def _(paddle: Any, x: Any, y: Any, reduction: str = "mean", delta: Any = 1.0) -> Any:
    return paddle.nn.functional.smooth_l1_loss(x, y, reduction, delta)


@adapter("nn.functional.cosine_similarity")
def _(paddle: Any, x: Any, y: Any, dim: Any = 1, eps: Any = 1e-8) -> Any:
    return paddle.nn.functional.cosine_similarity(x, y, dim, eps)


@adapter("nn.functional.nll_loss")
def _(paddle: Any, x: Any, y: Any, weight: Any = None, reduction: str = "mean", ignore_index: Any = -100) -> Any:
    return paddle.nn.functional.nll_loss(x, y, weight, ignore_index, reduction)


@adapter("nn.functional.cross_entropy")
def _(
    paddle: Any, x: Any, y: Any, weight: Any = None, reduction: str = "mean", ignore_index: Any = -100,
    label_smoothing: Any = 0.0,
) -> Any:  # fmt: skip
    soft = y.dtype == x.dtype
    axis = 1 if len(x.shape) > 1 else 0
    return paddle.nn.functional.cross_entropy(
        x, y, weight, ignore_index, reduction, soft, axis, label_smoothing=label_smoothing
    )


@adapter("nn.functional.ctc_loss")
def _(
    paddle: Any,
    x: Any,
    labels: Any,
    lengths: Any,
    label_lengths: Any,
    reduction: str = "mean",
    zero_infinity: Any = False,
) -> Any:
    raise Lacks("probabilities that are normalised already; Paddle takes logits")
