"""Adapters: convolutions, pooling, resizing, patches."""

from __future__ import annotations

from typing import Any

from tests.opinfo.table import adapter, needs

for _n in (1, 2, 3):

    @adapter(f"nn.functional.conv{_n}d")
    def _(
        paddle: Any, x: Any, w: Any, b: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        groups: Any = 1, n: int = _n,
    ) -> Any:  # fmt: skip
        needs(len(x.shape) == n + 2, "an image without a batch")
        padding = padding.upper() if isinstance(padding, str) else padding
        options = {
            k: list(v) if isinstance(v, tuple) else v
            for k, v in (("stride", stride), ("padding", padding), ("dilation", dilation))
        }
        return getattr(paddle.nn.functional, f"conv{n}d")(x, w, b, **options, groups=groups)

    @adapter(f"nn.functional.conv_transpose{_n}d")
    def _(
        paddle: Any, x: Any, w: Any, b: Any = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
        groups: Any = 1, dilation: Any = 1, n: int = _n,
    ) -> Any:  # fmt: skip
        needs(len(x.shape) == n + 2, "an image without a batch")
        given = (("stride", stride), ("padding", padding), ("output_padding", output_padding), ("dilation", dilation))
        options = {k: list(v) if isinstance(v, tuple) else v for k, v in given}
        return getattr(paddle.nn.functional, f"conv{n}d_transpose")(x, w, b, **options, groups=groups)

    @adapter(f"nn.functional.avg_pool{_n}d")
    def _(
        paddle: Any, x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: Any = False,
        count_include_pad: Any = True, divisor_override: Any = None, n: int = _n,
    ) -> Any:  # fmt: skip
        needs(len(x.shape) == n + 2, "an image without a batch")
        kernel_size, stride, padding = (list(v) if isinstance(v, tuple) else v for v in (kernel_size, stride, padding))
        options = {} if n == 1 else {"divisor_override": divisor_override}
        return getattr(paddle.nn.functional, f"avg_pool{n}d")(
            x, kernel_size, stride, padding, exclusive=not count_include_pad, ceil_mode=ceil_mode, **options
        )

    @adapter(f"nn.functional.max_pool{_n}d")
    def _(
        paddle: Any, x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
        ceil_mode: Any = False, return_indices: Any = False, n: int = _n,
    ) -> Any:  # fmt: skip
        needs(len(x.shape) == n + 2, "an image without a batch")
        needs(dilation in (1, (1,) * n), "dilation")
        kernel_size, stride, padding = (list(v) if isinstance(v, tuple) else v for v in (kernel_size, stride, padding))
        return getattr(paddle.nn.functional, f"max_pool{n}d")(
            x, kernel_size, stride, padding, return_mask=return_indices, ceil_mode=ceil_mode
        )

    @adapter(f"nn.functional.adaptive_avg_pool{_n}d")
    def _(paddle: Any, x: Any, size: Any, n: int = _n) -> Any:
        needs(len(x.shape) == n + 2, "an image without a batch")
        size = size[0] if n == 1 and isinstance(size, tuple) else size
        return getattr(paddle.nn.functional, f"adaptive_avg_pool{n}d")(x, size)

    @adapter(f"nn.functional.adaptive_max_pool{_n}d")
    def _(paddle: Any, x: Any, size: Any, return_indices: Any = False, n: int = _n) -> Any:
        needs(len(x.shape) == n + 2, "an image without a batch")
        size = size[0] if n == 1 and isinstance(size, tuple) else size
        return getattr(paddle.nn.functional, f"adaptive_max_pool{n}d")(x, size, return_mask=return_indices)

    @adapter(f"nn.functional.max_unpool{_n}d", f"nn.functional.max_unpool{_n}d.grad")
    def _(
        paddle: Any, x: Any, places: Any, kernel_size: Any, stride: Any = None, padding: Any = 0,
        output_size: Any = None,
        n: int = _n,
    ) -> Any:  # fmt: skip
        needs(len(x.shape) == n + 2, "an image without a batch")
        kernel_size, stride, padding = (list(v) if isinstance(v, tuple) else v for v in (kernel_size, stride, padding))
        size = None if output_size is None else list(output_size)
        return getattr(paddle.nn.functional, f"max_unpool{n}d")(
            x, places, kernel_size, stride, padding, output_size=size
        )


for _mode in ("nearest", "linear", "bilinear", "bicubic", "trilinear", "area"):

    @adapter(f"nn.functional.interpolate.{_mode}")
    def _(
        paddle: Any, x: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
        align_corners: Any = None,
        recompute_scale_factor: Any = None,
    ) -> Any:  # fmt: skip
        layout = {3: "NCW", 4: "NCHW", 5: "NCDHW"}[len(x.shape)]
        size = [size] * (len(x.shape) - 2) if isinstance(size, int) else None if size is None else list(size)
        scale = list(scale_factor) if isinstance(scale_factor, tuple) else scale_factor
        return paddle.nn.functional.interpolate(
            x, size, scale, mode, bool(align_corners), data_format=layout, recompute_scale_factor=recompute_scale_factor
        )


@adapter("nn.functional.upsample_bilinear")
def _(paddle: Any, x: Any, size: Any = None, scale_factor: Any = None) -> Any:
    size = None if size is None else [size] * 2 if isinstance(size, int) else list(size)
    return paddle.nn.functional.upsample(x, size, scale_factor, "bilinear", align_corners=True)


@adapter("nn.functional.upsample_nearest")
def _(paddle: Any, x: Any, size: Any = None, scale_factor: Any = None) -> Any:
    count = len(x.shape) - 2
    layout = {1: "NCW", 2: "NCHW", 3: "NCDHW"}[count]
    size = None if size is None else [size] * count if isinstance(size, int) else list(size)
    return paddle.nn.functional.upsample(x, size, scale_factor, "nearest", data_format=layout)


@adapter("nn.functional.unfold")
def _(paddle: Any, x: Any, kernel: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    needs(len(x.shape) == 4, "an image without a batch")
    kernel, stride, padding, dilation = (
        list(v) if isinstance(v, tuple) else v for v in (kernel, stride, padding, dilation)
    )
    return paddle.nn.functional.unfold(x, kernel, stride, padding, dilation)


@adapter("nn.functional.grid_sample")
def _(
    paddle: Any, x: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: Any = False
) -> Any:
    needs(mode != "bicubic", "bicubic samples")
    mode = "bilinear" if mode == "trilinear" else mode
    padding_mode = "reflection" if padding_mode == "reflection" else padding_mode
    return paddle.nn.functional.grid_sample(x, grid, mode, padding_mode, bool(align_corners))


@adapter("nn.functional.pixel_shuffle")
def _(paddle: Any, x: Any, upscale_factor: Any) -> Any:
    needs(len(x.shape) == 4, "images with other than four dimensions")
    return paddle.nn.functional.pixel_shuffle(x, upscale_factor)


@adapter("nn.functional.pixel_unshuffle")
def _(paddle: Any, x: Any, downscale_factor: Any) -> Any:
    needs(len(x.shape) == 4, "images with other than four dimensions")
    return paddle.nn.functional.pixel_unshuffle(x, downscale_factor)


@adapter("nn.functional.channel_shuffle")
def _(paddle: Any, x: Any, groups: Any) -> Any:
    needs(len(x.shape) == 4, "images with other than four dimensions")
    return paddle.nn.functional.channel_shuffle(x, groups)


@adapter(
    *(f"nn.functional.pad.{m}" for m in ("constant", "reflect", "replicate", "replicate_negative", "circular")),
    "constant_pad_nd",
)
def _(paddle: Any, x: Any, pad: Any, mode: Any = "constant", value: Any = None) -> Any:
    if not isinstance(mode, str):
        mode, value = "constant", mode
    rank = len(x.shape)
    pad, value = list(pad), 0.0 if value is None else value
    if mode == "constant":
        pad = pad + [0] * (2 * rank - len(pad))
        return paddle.nn.functional.pad(x, pad, mode, value, pad_from_left_axis=False)
    needs(rank == len(pad) // 2 + 2, "an image without a batch")
    layout = {3: "NCL", 4: "NCHW", 5: "NCDHW"}[rank]
    return paddle.nn.functional.pad(x, pad, mode, value, layout)


@adapter("nn.functional.local_response_norm")
def _(paddle: Any, x: Any, size: Any, alpha: Any = 1e-4, beta: Any = 0.75, k: Any = 1.0) -> Any:
    layout = {3: "NCL", 4: "NCHW", 5: "NCDHW"}[len(x.shape)]
    return paddle.nn.functional.local_response_norm(x, size, alpha, beta, k, layout)
