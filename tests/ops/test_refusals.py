"""What kernels refuse, now and after a compiled run; what they write for themselves."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from gradtool.engine.core.errors import ExecutionError, LabelError
from gradtool.engine.ops.refusals import collect_refusals, refuse
from gradtool.engine.ops.writing import add_at, put


def test_a_wrong_value_raises_at_once() -> None:
    refuse(np.array([False]), LabelError, "never")
    with pytest.raises(LabelError, match="index 7"):
        refuse(np.array([False, True]), lambda worst: LabelError(f"index {worst}"), np.int64(7))


def test_what_is_compiled_tells_after_the_run() -> None:
    notes = []

    def kernel(x):  # type: ignore[no-untyped-def]
        with collect_refusals() as noted:
            refuse(x > 3, lambda worst: LabelError(f"index {worst}"), x.max())
        notes[:] = noted
        return [(n.wrong, n.values) for n in noted]

    ((wrong, values),) = jax.jit(kernel)(np.arange(6))
    assert wrong.any()
    assert "index 5" in str(notes[0].error(*map(np.asarray, values)))


def test_nobody_compiles_without_taking_note() -> None:
    with pytest.raises(ExecutionError, match="nobody takes note"):
        refuse(jax.numpy.array([True]), LabelError, "lost")


@pytest.mark.parametrize("xp", [np, jax.numpy], ids=["numpy", "jax"])
def test_writing_gives_the_same_on_both(xp) -> None:  # type: ignore[no-untyped-def]
    np.testing.assert_array_equal(put(xp.zeros(3), slice(1, 3), 2.0), [0, 2, 2])
    np.testing.assert_array_equal(add_at(xp.zeros(3), np.array([1, 1, 2]), 1.0), [0, 2, 1])
