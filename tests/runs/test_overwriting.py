"""What an array holds after another one of its storage was written, computed from the values of both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool.engine.kernels.choice import reference
from gradtool.engine.runs.overwriting import OVERWRITTEN, lay_out


def random_view(array: Any, rng: np.random.Generator) -> Any:
    """Return a view of an array: some of its axes in another order, cut, stepped through or picked."""
    view = array.transpose(rng.permutation(array.ndim))
    for axis in range(view.ndim):
        size = view.shape[axis]
        start, step = int(rng.integers(0, size)), int(rng.integers(1, 3))
        view = view[(slice(None),) * axis + (slice(start, size, step),)]
    return view[0] if rng.random() < 0.4 else view


@pytest.mark.parametrize("seed", range(60))
def test_a_write_is_seen_as_memory_shows_it(seed: int) -> None:
    rng = np.random.default_rng(seed)
    storage = rng.standard_normal((3, 4, 5)).astype(np.float32)
    seen, written = random_view(storage, rng), random_view(storage, rng)
    before, values = seen.copy(), rng.standard_normal(written.shape).astype(np.float32)
    write = lay_out(seen, written, 0, ())
    written[...] = values
    overwrite = reference().bind(OVERWRITTEN, write.attrs)
    np.testing.assert_array_equal(overwrite(before, values), seen)


def test_another_type_has_no_layout() -> None:
    storage = np.zeros(4, np.float32)
    assert lay_out(storage, storage.view(np.int32), 0, ()).seen is None
