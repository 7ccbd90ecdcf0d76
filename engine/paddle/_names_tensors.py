"""The table of public names, continued: functions of tensors beyond the first hundred."""

from __future__ import annotations

from ._lazy import provide_all

provide_all(
    (
        "gradtool.paddle",
        "gradtool.paddle._short_names",
        (
            "argwhere cat clamp concatenate div eq ge ger greater gt le lt msort mul narrow ne permute ravel "
            "scatter_add scatter_reduce softmax sub swapaxes swapdims take_along_dim true_divide view_as_complex "
            "view_as_real"
        ),
    ),
    (
        "gradtool.paddle",
        "gradtool.paddle._parts",
        (
            "count_nonzero deg2rad digamma erfinv frac frexp gammainc gammaincc gammaln i0 i0e i1 i1e is_empty "
            "isneginf isposinf isreal lgamma logit multigammaln nan_to_num polygamma rad2deg sgn signbit sinc "
            "stanh trunc"
        ),
    ),
    (
        "gradtool.paddle",
        "gradtool.paddle._pairs",
        (
            "atan2 bitwise_left_shift bitwise_right_shift copysign fmax fmin gcd heaviside hypot lcm ldexp lerp "
            "logaddexp nextafter reduce_as vecdot"
        ),
    ),
    (
        "gradtool.paddle",
        "gradtool.paddle._diagonals",
        "diag diag_embed diagflat diagonal diagonal_scatter trace tril_indices triu_indices",
    ),
    (
        "gradtool.paddle",
        "gradtool.paddle._running",
        "cummax cummin cumprod cumulative_trapezoid diff logcumsumexp trapezoid",
    ),
    (
        "gradtool.paddle",
        "gradtool.paddle._products",
        (
            "baddbmm block_diag cartesian_prod cdist combinations cross dist inner kron mv outer pdist renorm "
            "tensordot vander"
        ),
    ),
    (
        "gradtool.paddle",
        "gradtool.paddle._statistics",
        (
            "bincount bucketize histogram histogram_bin_edges histogramdd isin kthvalue mode nanmean nanmedian "
            "nanquantile nansum quantile searchsorted unique_consecutive"
        ),
    ),
    (
        "gradtool.paddle",
        "gradtool.paddle._placing",
        (
            "as_strided crop index_add index_fill index_sample masked_scatter multiplex rot90 scatter_nd "
            "scatter_nd_add select_scatter shard_index slice_scatter take unfold view view_as"
        ),
    ),
    (
        "gradtool.paddle",
        "gradtool.paddle._drawing",
        "binomial log_normal multinomial poisson rand_like randn_like standard_gamma",
    ),
    ("gradtool.paddle", "gradtool.paddle._drawing_in_place", "bernoulli_ cauchy_ geometric_ log_normal_ normal_"),
    (
        "gradtool.paddle",
        "gradtool.paddle._generator",
        "Generator get_cuda_rng_state get_rng_state manual_seed set_cuda_rng_state set_rng_state",
    ),
    (
        "gradtool.paddle",
        "gradtool.paddle._from_numbers",
        (
            "BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor "
            "LongTensor ShortTensor as_tensor asarray from_numpy logspace range tolist"
        ),
    ),
    (
        "gradtool.paddle",
        "gradtool.paddle._windows",
        "bartlett_window blackman_window hamming_window hann_window kaiser_window",
    ),
    (
        "gradtool.paddle",
        "gradtool.paddle._element_types",
        "Size bool cdouble cfloat double dtype e finfo float half iinfo inf int long nan newaxis pi short",
    ),
    ("gradtool.paddle", "gradtool.paddle.nn.functional._conv1d", "conv1d"),
    ("gradtool.paddle", "gradtool.paddle.nn.functional._conv", "conv2d"),
    ("gradtool.paddle", "gradtool.paddle.nn.functional._pooling1d", "adaptive_avg_pool1d"),
    ("gradtool.paddle", "gradtool.paddle.nn.functional._norm", "group_norm layer_norm"),
    ("gradtool.paddle.nn.functional", "gradtool.paddle._products", "pdist"),
    ("gradtool.paddle.nn.functional", "gradtool.paddle._diagonals", "diag_embed"),
    ("gradtool.paddle", "gradtool.paddle._splitting", "broadcast_shapes"),
    ("gradtool.paddle", "gradtool.paddle._print_options", "set_printoptions"),
    (
        "gradtool.paddle",
        "gradtool.paddle.device",
        (
            "device_guard get_cudnn_version get_default_device is_compiled_with_custom_device "
            "is_compiled_with_distribute is_compiled_with_ipu set_default_device"
        ),
    ),
    ("gradtool.paddle", "gradtool.paddle.nn.functional._conv", "conv3d"),
    ("gradtool.paddle", "gradtool.paddle._batch", "batch"),
    ("gradtool.paddle.linalg", "gradtool.paddle._linalg", "matmul"),
    ("gradtool.paddle.linalg", "gradtool.paddle._reduction", "norm"),
    ("gradtool.paddle.linalg", "gradtool.paddle._products", "cross"),
    ("gradtool.paddle.linalg", "gradtool.paddle._pairs", "vecdot"),
    ("gradtool.paddle.linalg", "gradtool.paddle._diagonals", "diagonal"),
    ("gradtool.paddle.linalg", "gradtool.paddle._splitting", "matrix_transpose"),
    (
        "gradtool.paddle.linalg",
        "gradtool.paddle.linalg._systems",
        "cholesky_inverse cholesky_solve det inv matrix_power multi_dot slogdet solve triangular_solve",
    ),
    (
        "gradtool.paddle.linalg",
        "gradtool.paddle.linalg._norms",
        "cond corrcoef cov matrix_norm pinv svd svdvals vector_norm",
    ),
    (
        "gradtool.paddle.linalg",
        "gradtool.paddle.linalg._factors",
        "cholesky householder_product lu lu_solve lu_unpack matrix_exp ormqr pca_lowrank qr svd_lowrank",
    ),
    ("gradtool.paddle.linalg", "gradtool.paddle.linalg._eigen", "eig eigh eigvals eigvalsh lstsq matrix_rank"),
    ("gradtool.paddle", "gradtool.paddle.linalg._systems", "inverse"),
    ("gradtool.paddle", "gradtool.paddle.linalg._factors", "cholesky"),
    ("gradtool.paddle", "gradtool.paddle.linalg._eigen", "eigvalsh"),
    (
        "gradtool.paddle.fft",
        "gradtool.paddle.fft._transforms",
        "fft fft2 fftn hfft hfft2 hfftn ifft ifft2 ifftn ihfft ihfft2 ihfftn irfft irfft2 irfftn rfft rfft2 rfftn",
    ),
    ("gradtool.paddle.signal", "gradtool.paddle.signal._windows", "frame istft overlap_add stft"),
    ("gradtool.paddle.fft", "gradtool.paddle.fft._frequencies", "fftfreq fftshift ifftshift rfftfreq"),
)
