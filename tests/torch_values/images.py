"""Rows: convolution and pooling of images and sequences; moving, resizing and sampling of places."""

from __future__ import annotations

from .rows import Row, away, between, normal, row

IMAGES: list[Row] = [
    row("F.conv2d", "F.conv2d(x, w, b)", x=normal(2, 3, 5, 4), w=normal(2, 3, 3, 2), b=normal(2)),
    row(
        "F.conv2d strided", "F.conv2d(x, w, stride=[2, 1], padding=[1, 2])", x=normal(1, 2, 5, 4), w=normal(3, 2, 3, 2)
    ),
    row("F.conv2d dilated", "F.conv2d(x, w, padding=2, dilation=2)", x=normal(1, 2, 5, 5), w=normal(2, 2, 2, 3)),
    row("F.conv2d grouped", "F.conv2d(x, w, groups=2)", x=normal(1, 4, 3, 4), w=normal(6, 2, 2, 2)),
    row(
        "F.conv2d_transpose",
        "F.conv2d_transpose(x, w, b)",
        "F.conv_transpose2d(x, w, b)",
        x=normal(2, 3, 3, 2),
        w=normal(3, 2, 2, 3),
        b=normal(2),
    ),
    row(
        "F.conv2d_transpose strided",
        "F.conv2d_transpose(x, w, stride=2, padding=1, output_padding=1)",
        "F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1)",
        x=normal(1, 2, 3, 3),
        w=normal(2, 3, 3, 3),
    ),
    row(
        "F.conv2d_transpose grouped",
        "F.conv2d_transpose(x, w, groups=2, dilation=2)",
        "F.conv_transpose2d(x, w, groups=2, dilation=2)",
        x=normal(1, 4, 2, 3),
        w=normal(4, 2, 2, 2),
    ),
    row("F.max_pool2d", "F.max_pool2d(x, 2, 2)", x=normal(2, 3, 4, 5)),
    row("F.max_pool2d overlapping", "F.max_pool2d(x, 3, 2, 1)", x=normal(1, 2, 5, 4)),
    row("F.max_pool2d ceil", "F.max_pool2d(x, 2, 2, ceil_mode=True)", x=normal(1, 2, 5, 3)),
    row("F.avg_pool2d", "F.avg_pool2d(x, 2, 2)", x=normal(2, 3, 4, 5)),
    row(
        "F.avg_pool2d exclusive",
        "F.avg_pool2d(x, 3, 2, 1)",
        "F.avg_pool2d(x, 3, 2, 1, count_include_pad=False)",
        x=normal(1, 2, 5, 4),
    ),
    row(
        "F.avg_pool2d inclusive",
        "F.avg_pool2d(x, 3, 2, 1, exclusive=False)",
        "F.avg_pool2d(x, 3, 2, 1)",
        x=normal(1, 2, 5, 5),
    ),
    row("F.adaptive_avg_pool2d", "F.adaptive_avg_pool2d(x, [2, 3])", x=normal(1, 2, 5, 4)),
    row("F.adaptive_max_pool2d", "F.adaptive_max_pool2d(x, [2, 3])", x=normal(1, 2, 5, 4)),
]

SEQUENCES: list[Row] = [
    row("F.conv1d", "F.conv1d(x, w, b)", x=normal(2, 3, 6), w=normal(4, 3, 2), b=normal(4)),
    row(
        "F.conv1d strided",
        "F.conv1d(x, w, stride=2, padding=1, dilation=2, groups=2)",
        x=normal(1, 4, 7),
        w=normal(2, 2, 3),
    ),
    row(
        "F.conv1d_transpose",
        "F.conv1d_transpose(x, w, b, stride=2, padding=1, output_padding=1)",
        "F.conv_transpose1d(x, w, b, stride=2, padding=1, output_padding=1)",
        x=normal(2, 3, 4),
        w=normal(3, 2, 3),
        b=normal(2),
    ),
    row("F.max_pool1d", "F.max_pool1d(x, 3, 2, 1)", x=normal(1, 2, 7)),
    row("F.avg_pool1d", "F.avg_pool1d(x, 2, 2)", x=normal(1, 2, 6)),
    row("F.adaptive_avg_pool1d", "F.adaptive_avg_pool1d(x, 3)", x=normal(1, 2, 7)),
    row("F.adaptive_max_pool1d", "F.adaptive_max_pool1d(x, 3)", x=normal(1, 2, 7)),
    row("F.glu", "F.glu(x, 1)", x=normal(2, 6, 3)),
    row("F.prelu", "F.prelu(x, w)", x=away(2, 3, 4), w=between(0.1, 0.5, 3)),
    row("F.prelu one slope", "F.prelu(x, w)", x=away(2, 3, 4), w=between(0.1, 0.5, 1)),
]

PLACES: list[Row] = [
    row("F.pixel_shuffle", "F.pixel_shuffle(x, 2)", x=normal(1, 8, 2, 3)),
    row("F.pixel_unshuffle", "F.pixel_unshuffle(x, 2)", x=normal(1, 2, 4, 6)),
    row("F.channel_shuffle", "F.channel_shuffle(x, 2)", "F.channel_shuffle(x, 2)", x=normal(1, 6, 2, 3)),
    row("F.unfold", "F.unfold(x, [2, 3])", x=normal(1, 2, 4, 5)),
    row(
        "F.unfold strided",
        "F.unfold(x, 2, 2, 1, 2)",
        "F.unfold(x, 2, stride=2, padding=1, dilation=2)",
        x=normal(1, 2, 4, 5),
    ),
    row("F.fold", "F.fold(x, [4, 5], [2, 3])", x=normal(1, 12, 9)),
    *(
        row(
            f"F.grid_sample {mode}, {padding}, {corners}",
            f"F.grid_sample(x, y, '{mode}', '{padding}', {corners})",
            x=normal(1, 2, 4, 5),
            y=between(-1.4, 1.4, 1, 3, 4, 2),
        )
        for mode in ("bilinear", "nearest")
        for padding in ("zeros", "border", "reflection")
        for corners in (True, False)
    ),
    row("F.affine_grid", "F.affine_grid(x, [2, 1, 3, 4])", "F.affine_grid(x, [2, 1, 3, 4], True)", x=normal(2, 2, 3)),
    row(
        "F.affine_grid edges",
        "F.affine_grid(x, [2, 1, 3, 4], align_corners=False)",
        "F.affine_grid(x, [2, 1, 3, 4], False)",
        x=normal(2, 2, 3),
    ),
    *(
        row(
            f"F.interpolate {mode}, {corners}",
            f"F.interpolate(x, {size}, mode='{mode}', align_corners={corners})",
            x=normal(1, 2, *shape),
        )
        for mode, shape, size in (
            ("linear", (5,), [8]),
            ("bilinear", (4, 5), [7, 3]),
            ("trilinear", (2, 3, 4), [3, 5, 2]),
            ("bicubic", (4, 5), [7, 3]),
        )
        for corners in (True, False)
    ),
    row("F.interpolate by scale", "F.interpolate(x, scale_factor=1.5, mode='bilinear')", x=normal(1, 2, 4, 6)),
    row("F.interpolate area", "F.interpolate(x, [2, 3], mode='area')", x=normal(1, 2, 5, 4)),
]

ROWS = [*IMAGES, *SEQUENCES, *PLACES]
