"""Memory that a script shares with the tape: nothing writes it, and what changes in place is kept apart."""

import numpy as np
import pytest

from gradtool.engine.core import vocabulary
from gradtool.engine.recorders.recorded import events
from gradtool.engine.recorders.recorded.events import NodeDifferentiated
from gradtool.engine.recorders.recorded.frameworks import TORCH
from gradtool.engine.recorders.recorded.player import Player
from gradtool.engine.recorders.recorded.recorder import apart


@pytest.fixture
def words():
    """The words of PyTorch, which a player speaks, end with the test."""
    with vocabulary.use_vocabulary():
        yield


def test_what_shares_memory_with_a_gradient_is_copied_and_nothing_else():
    gradient, other = np.arange(6.0).reshape(2, 3), np.ones(3)
    kept = apart(
        [
            NodeDifferentiated(1, (other, None), (gradient.T, gradient[1])),
            NodeDifferentiated(2, (gradient[:, 1],), (None,)),
        ],
        [gradient],
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
    (kept,) = apart([NodeDifferentiated(1, (buffer[2:4],), (buffer[:0],))], [buffer[:2], buffer[4:]])
    assert np.shares_memory(kept.arriving[0], buffer)


def _play_pass(player, number, values, gradient):
    """Play ten times the leaf 1 and a backward pass, after which the script's ``.grad`` holds *gradient*."""
    ten, node = np.full(1, 10, np.float32), events.GraphNode(number, "MulBackward0", (1,), (((1,), "float32"),))
    made = events.CallResult(number + 1, 10 * values, 0)
    call = "mul", ("self", "other"), (events.Ref(1), 10.0), (made,), node, (0,)
    player(events.OperatorCalled(*call, False, (), (), True, 0.0, ()))
    player(events.BackwardBegan((number + 1,), "backward", False, ()))
    pulled = (NodeDifferentiated(number, (np.ones(1, np.float32),), (ten,)),)
    player(events.BackwardEnded((number + 1,), "backward", (None,), False, False, pulled, ((1, gradient),), "", ()))


@pytest.mark.usefixtures("words")
def test_a_pass_writes_nothing_of_the_script():
    player, values, gradient = Player(TORCH), np.ones(1, np.float32), np.full(1, 10, np.float32)
    player(events.TensorMade(1, values, True, True, None, None, ()))
    _play_pass(player, 1, values, gradient)
    gradient += 10  # the framework adds in place, before it reports the pass
    _play_pass(player, 2, values, gradient)
    assert gradient == 20
    assert values == 1
    assert player.tensors[1].grad.numpy() == 20
    assert np.shares_memory(player.tensors[1].grad.array, gradient)
