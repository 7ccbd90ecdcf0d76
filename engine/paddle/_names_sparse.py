"""The table of public names of ``paddle.sparse`` and ``paddle.geometric``."""

from __future__ import annotations

from ._lazy import provide

SPARSE = {
    "_arithmetic": "add divide is_same_shape multiply subtract",
    "_creation": "sparse_coo_tensor sparse_csr_tensor",
    "_elementwise": (
        "abs asin asinh atan atanh cast deg2rad expm1 isnan log1p neg pow rad2deg sin sinh sqrt square tan tanh"
    ),
    "_products": "addmm mask_as masked_matmul matmul mv pca_lowrank",
    "_shaping": "coalesce reshape slice sum transpose",
}
LAYERS = {
    "_activation_layers": "LeakyReLU ReLU ReLU6 Softmax",
    "_conv_layers": "Conv2D Conv3D MaxPool3D SubmConv2D SubmConv3D",
    "_norm_layers": "BatchNorm SyncBatchNorm",
}
FUNCTIONS = {
    "_activation": "leaky_relu relu relu6 softmax",
    "_attention": "attention",
    "_conv": "conv2d conv3d subm_conv2d subm_conv2d_igemm subm_conv3d subm_conv3d_igemm",
    "_pooling": "max_pool3d",
}
GEOMETRIC = {
    "_messages": "send_u_recv send_ue_recv send_uv",
    "_reindexing": "reindex_graph reindex_heter_graph",
    "_sampling": "sample_neighbors weighted_sample_neighbors",
    "_segments": "segment_max segment_mean segment_min segment_sum",
}

for _package, _table in (
    ("gradtool.paddle.sparse", SPARSE),
    ("gradtool.paddle.sparse.nn", LAYERS),
    ("gradtool.paddle.sparse.nn.functional", FUNCTIONS),
    ("gradtool.paddle.geometric", GEOMETRIC),
):
    for _module, _names in _table.items():
        provide(_package, f"{_package}.{_module}", _names)
