"""What nodes gave is kept apart from what has come to be the ``.grad`` of a leaf, which is clipped in place."""

import numpy as np

from gradtool.models.recorded.events import Pulled
from gradtool.models.recorded.recorder import apart


def test_what_shares_memory_with_a_gradient_is_copied_and_nothing_else():
    gradient, other = np.arange(6.0).reshape(2, 3), np.ones(3)
    kept = apart(
        [Pulled(1, (other, None), (gradient.T, gradient[1])), Pulled(2, (gradient[:, 1],), (None,))], [gradient]
    )
    first, second = kept
    assert first.arriving[0] is other
    assert first.arriving[1] is None
    np.multiply(gradient, 0, out=gradient)
    np.testing.assert_array_equal(first.gradients[0], np.arange(6.0).reshape(2, 3).T)
    np.testing.assert_array_equal(first.gradients[1], [3.0, 4.0, 5.0])
    np.testing.assert_array_equal(second.arriving[0], [1.0, 4.0])


def test_neighbours_in_memory_are_left_as_they_are():
    buffer = np.arange(6.0)
    (kept,) = apart([Pulled(1, (buffer[2:4],), (buffer[:0],))], [buffer[:2], buffer[4:]])
    assert np.shares_memory(kept.arriving[0], buffer)
