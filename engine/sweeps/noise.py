"""The gradient noise scale, from the norms of gradients at two sizes of batches.

With G the gradient over all data and S the sum of the variances of a sample's gradient, a batch of b samples has a
squared norm of |G|² + S/b on average. Two sizes give both; S/|G|² is the size of batch from which more samples
help little (McCandlish et al., 2018). The loss has to be a mean over the samples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.records import dataclass


@dataclass(frozen=True, slots=True)
class NoiseScale:
    """Noise scale by two sizes of batches.

    Attributes:
        model, settings, seed: which points.
        small, large: the sizes.
        squares: the mean squared norms at these.
        batches: how many batches of each there were.
    """

    model: str
    settings: Mapping[str, str]
    seed: int
    small: int
    large: int
    squares: tuple[float, float]
    batches: tuple[int, int]

    @property
    def gradient(self) -> float:
        """|G|², without bias: it may come out below 0 where it is small beside the noise."""
        b, large = self.small, self.large
        return (large * self.squares[1] - b * self.squares[0]) / (large - b)

    @property
    def noise(self) -> float:
        """S, the sum of the variances; below 0 where larger batches have larger gradients."""
        return (self.squares[0] - self.squares[1]) / (1 / self.small - 1 / self.large)

    @property
    def scale(self) -> float | None:
        """S/|G|², in samples; None where the norms do not say it."""
        return self.noise / self.gradient if self.gradient > 0 and self.noise >= 0 else None

    @property
    def doubt(self) -> str:
        """Why there is no scale; empty if there is one."""
        if self.noise < 0:
            return "larger batches have larger gradients: is the loss a sum, and not a mean over the samples?"
        return (
            "" if self.gradient > 0 else "the gradient over all data is lost in the noise: larger batches may show it"
        )


def noise_scales(rows: Sequence[Mapping[str, Any]]) -> list[NoiseScale]:
    """One for every model, setting and seed whose whole batches come in several sizes and are finite."""
    groups: dict[Any, dict[int, list[float | None]]] = {}
    for row in rows:
        if row["rows"] is not None and "norm" in (row["answer"] or {}):
            key = row["model"], tuple(row["set"].items()), row["seed"]
            sizes = groups.setdefault(key, {})
            sizes.setdefault(row["rows"][1] - row["rows"][0], []).append(row["answer"]["norm"])
    told = []
    for (model, settings, seed), sizes in groups.items():
        whole = {size: norms for size, norms in sizes.items() if len(norms) > 1}
        if len(whole) < 2 or any(norm is None for norms in whole.values() for norm in norms):
            continue
        small, large = min(whole), max(whole)
        squares = tuple(_mean_square(whole[size]) for size in (small, large))
        counts = len(whole[small]), len(whole[large])
        told.append(NoiseScale(model, dict(settings), seed, small, large, (squares[0], squares[1]), counts))
    return told


def _mean_square(norms: Sequence[float | None]) -> float:
    return sum(norm * norm for norm in norms if norm is not None) / len(norms)
