"""Images in another size or place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradtool.paddle.nn.functional as F
from gradtool import paddle

from ..errors import Missing, Unsound
from ..node import Pt2Node
from .convolutions import MOST
from .rows import row


def _resize(mode: str, rank: int) -> Callable[[Pt2Node], Any]:
    def emit(n: Pt2Node) -> Any:
        x = n.tensor("input" if "input" in n.arguments else "self")
        if len(x.shape) != rank + 2:
            raise Unsound(f"an image of {rank} axes in a tensor of {len(x.shape)}")
        sizes = list(n.made.shape[2:])
        if any(d < 0 for d in (*sizes, *x.shape[2:])):
            raise Missing("an image of a size that is not known")
        if max(sizes) > MOST:
            raise Unsound(f"an image of {sizes}")
        if _scales_matter(n, x, sizes):
            raise Missing("scales that are no quotient of the sizes")
        if mode == "nearest":
            return F.interpolate(x, size=sizes, mode="nearest") if rank > 1 else _nearest(x, sizes[0])
        return F.interpolate(x, size=sizes, mode=mode, align_corners=n.flag("align_corners"), align_mode=0)

    return emit


def _scales_matter(n: Pt2Node, x: Any, sizes: list[int]) -> bool:
    """Return whether the file gives scales by which elements lie elsewhere than by the sizes."""
    told = n("scale_factors", None)
    if told is None:
        told = [v for v in (n(name, None) for name in ("scales_d", "scales_h", "scales_w", "scales")) if v is not None]
    return any(abs(s * float(f) - w) > 1e-9 for f, s, w in zip(told, x.shape[2:], sizes, strict=False))


def _nearest(x: Any, size: int) -> Any:
    """The nearest element of one axis."""
    places = np.arange(size) * x.shape[2] // size
    return paddle.index_select(x, paddle.assign(places.astype("int64")), axis=2)


for _rank, _mode in ((1, "linear"), (2, "bilinear"), (3, "trilinear"), (2, "bicubic")):
    row(f"aten.upsample_{_mode}{_rank}d")(_resize(_mode, _rank))
for _rank in (1, 2, 3):
    row(f"aten.upsample_nearest{_rank}d")(_resize("nearest", _rank))


@row("aten.grid_sampler", "aten.grid_sampler_2d", "aten.grid_sampler_3d")
def _grid(n: Pt2Node) -> Any:
    modes, paddings = ("bilinear", "nearest"), ("zeros", "border", "reflection")
    mode, padding = n.whole("interpolation_mode", 0), n.whole("padding_mode", 0)
    if not 0 <= mode < len(modes) or not 0 <= padding < len(paddings):
        raise Missing("samples of this kind")
    return F.grid_sample(
        n.tensor("input"),
        n.tensor("grid"),
        mode=modes[mode],
        padding_mode=paddings[padding],
        align_corners=n.flag("align_corners"),
    )


@row("aten.affine_grid_generator")
def _affine(n: Pt2Node) -> Any:
    sizes = n.wholes("size")
    if any(not 0 < d <= MOST for d in sizes):
        raise Unsound(f"a grid of {sizes[:8]}")
    return F.affine_grid(n.tensor("theta"), sizes, align_corners=n.flag("align_corners"))
