"""Fourier transforms."""

from __future__ import annotations

from ..drawing import Draw
from ..table import row

HERE = "fft"
NORMS = ("forward", "backward", "ortho")


@row("fft ifft rfft irfft hfft ihfft fft2 ifft2 rfft2 irfft2 hfft2 ihfft2", within=HERE)
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}({g.tensor([g.count(2, 4), g.count(2, 4)], 'float32')}, norm={g.of(*NORMS)!r})"


@row("fftn ifftn rfftn irfftn hfftn ihfftn", within=HERE)
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}({g.tensor([g.count(2, 3) for _ in range(g.count(1, 3))], 'float32')})"


@row("fftshift ifftshift", within=HERE)
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}({g.tensor(low=1)})"


@row("fftfreq rfftfreq", within=HERE, modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}({g.count(1, 6)}, {g.of(0.5, 1.0, 2.0)})"
