"""Losses of pairs and triples as layers, from a table; ``paddle.nn.functional`` computes them."""

from __future__ import annotations

from ._table import table_layer

CosineEmbeddingLoss = table_layer(
    __name__, "CosineEmbeddingLoss", "cosine_embedding_loss", shows=(), margin=0, reduction="mean"
)
HingeEmbeddingLoss = table_layer(
    __name__, "HingeEmbeddingLoss", "hinge_embedding_loss", shows=(), margin=1.0, reduction="mean"
)
MarginRankingLoss = table_layer(
    __name__, "MarginRankingLoss", "margin_ranking_loss", shows=(), margin=0.0, reduction="mean"
)
MultiLabelSoftMarginLoss = table_layer(
    __name__,
    "MultiLabelSoftMarginLoss",
    "multi_label_soft_margin_loss",
    shows=(),
    weight=None,
    reduction="mean",
)
PairwiseDistance = table_layer(
    __name__,
    "PairwiseDistance",
    "pairwise_distance",
    shows=("p",),
    second={"eps": "epsilon", "norm": "p"},
    p=2.0,
    epsilon=1e-6,
    keepdim=False,
)
SoftMarginLoss = table_layer(__name__, "SoftMarginLoss", "soft_margin_loss", shows=(), reduction="mean")
TripletMarginLoss = table_layer(
    __name__,
    "TripletMarginLoss",
    "triplet_margin_loss",
    shows=(),
    margin=1.0,
    p=2.0,
    epsilon=1e-6,
    swap=False,
    reduction="mean",
)
