"""Numbers of channels that are scaled."""

from __future__ import annotations


def divisible(channels: float, divisor: int = 8, least: int | None = None) -> int:
    """The multiple of *divisor* nearest to *channels*, at least *least* and no more than a tenth below *channels*."""
    low = divisor if least is None else least
    nearest = max(low, int(channels + divisor / 2) // divisor * divisor)
    return nearest + divisor if nearest < 0.9 * channels else nearest
