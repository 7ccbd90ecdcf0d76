"""What only all points together say."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from gradtool.engine.sweeps.noise import noise_scales
from gradtool.engine.sweeps.spread import NormSpread, idle, spreads, usual
from gradtool.engine.sweeps.subset import smallest
from gradtool.engine.sweeps.threshold_search import turnings


def row(norm: float | None, rows: tuple[int, int] | None = None, status: str = "ok", **settings: str) -> dict[str, Any]:
    """A row of stats."""
    line = {"name": "w", "norm": norm, "nonfinite": int(norm is None), "elements": 4}
    line["verdict"] = "ok" if norm is not None and norm < 1e4 else "large"
    answer = {"norm": norm, "nonfinite": int(norm is None), "lines": [line]}
    return {"model": "m.py", "seed": 0, "set": settings, "rows": rows, "status": status, "answer": answer}


def test_the_smallest_subset_needs_few_runs() -> None:
    for wanted in ({3}, {0, 99}, {7, 50, 51}, set(range(100))):
        asked: list[int] = []

        def gives(rows: Any, wanted: set[int] = wanted, asked: list[int] = asked) -> bool:
            asked.append(len(rows))
            return wanted <= set(rows)

        assert set(smallest(range(100), gives)) == wanted
        assert len(asked) < 14 * len(wanted) ** 2 + 300
    assert smallest([5], lambda rows: False) == (5,)


def test_outliers_are_far_from_the_median_and_not_finite() -> None:
    rows = [row(1 + i / 100, (i, i + 1)) for i in range(20)]
    rows += [row(50.0, (20, 21)), row(None, (21, 22)), row(0.0, (22, 23)), row(2.0, (23, 24))]
    (group,) = usual(rows)
    assert [(o.number, o.norm) for o in group.outliers] == [(21, None), (22, 0.0), (20, 50.0)]
    assert group.outliers[2].times == pytest.approx(50 / group.median)
    assert usual(rows[:7]) == []
    (line,) = spreads(rows)
    assert (line.nonfinite, line.zeros, len(line.norms)) == (1, 1, 23)
    assert NormSpread("w", (1.0, 2.0, 4.0), 0, 0).quantile(0.25) == 1.5
    assert NormSpread("w", (), 0, 0).quantile(0.5) is None


def test_what_changes_nothing_is_told() -> None:
    rows = [{**row(norm, None, lr=lr), "seed": seed, "feed": None} for norm, lr, seed in ((1, "1", 0), (2, "2", 0))]
    assert idle(rows) == []
    rows += [{**entry, "seed": 1} for entry in rows]
    assert idle(rows) == ["seed"]
    rows[3] = {**rows[3], "answer": row(3.0)["answer"]}
    assert idle(rows) == []
    assert idle([{**entry, "answer": {"births": []}} for entry in rows]) == idle([]) == []


def test_the_noise_scale_of_known_noise() -> None:
    random = np.random.default_rng(0)
    mean, deviation, size = np.full(50, 0.2), 3.0, 4096
    samples = mean + deviation * random.standard_normal((size, 50))
    rows = []
    for batch in (4, 64):
        for first in range(0, size, batch):
            norm = float(np.linalg.norm(samples[first : first + batch].mean(axis=0)))
            rows.append(row(norm, (first, first + batch)))
    (told,) = noise_scales(rows)
    assert told.scale == pytest.approx(50 * deviation**2 / (mean @ mean), rel=0.15)
    (summed,) = noise_scales([row(1.0, (0, 4)), row(1.0, (4, 8)), row(2.0, (0, 8)), row(2.0, (8, 16))])
    assert summed.scale is None
    assert "a sum" in summed.doubt
    assert noise_scales([row(1.0, (0, 4)), row(1.0, (4, 8)), row(None, (0, 8)), row(2.0, (8, 16))]) == []


@pytest.mark.parametrize(
    ("norms", "start", "falls"),
    [
        ([1, 1, 1e5, None], 2, False),
        ([None, 1e9, 1, 1], 1, True),
        ([1, 1e9, 1, 1e9], None, False),
        ([1, 1, 1], None, False),
    ],
)
def test_where_along_a_setting_gradients_explode(norms: list[float | None], start: int | None, falls: bool) -> None:
    rows = [row(norm, None, lr=str(10.0**i)) for i, norm in enumerate(norms)]
    (turning,) = turnings(rows[::-1])
    assert turning.values == tuple(str(10.0**i) for i in range(len(norms)))
    assert (turning.start, turning.falls) == (start, falls)
    assert not turnings([row(1.0, None, act=name) for name in ("relu", "tanh", "silu")])
    assert not math.isnan(turning.points[0])
