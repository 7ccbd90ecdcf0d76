"""Tables of backward passes that are drawn at random are what plain NumPy computes, in both frameworks."""

import numpy as np
import pytest

from gradtool.engine.questions.backward import Backward
from gradtool.engine.questions.gradcheck import Gradcheck
from gradtool.engine.questions.stats import Stats
from gradtool.engine.questions.why import Why
from gradtool.engine.request.request import Request

from .generated import COUNT, LEAVES, RUNS, drawn

pytestmark = pytest.mark.sampled(5)


def table_of(model, **more):
    return Backward().ask(Request.create(str(model), **more))


def assert_gives(table, expected):
    arrays = {row.shown: np.asarray(table.arrays[row.subject]) for row in table.rows if row.subject in table.arrays}
    arrays = {name: array for name, array in arrays.items() if name in LEAVES}
    # A leaf that the roots do not depend on is missing; one whose slopes happen to be zero may be either.
    for name in LEAVES:
        wanted = expected.get(name, np.zeros(3))
        got = arrays.get(name, np.zeros(3))
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5, err_msg=name)


@pytest.fixture(params=range(40))
def paddle_script(request, tmp_path):
    script = drawn(request.param)
    file = tmp_path / "model.py"
    file.write_text(script.text("paddle"), "utf-8")
    return script, file


def test_a_step_is_the_sum_of_its_calls(paddle_script):
    script, file = paddle_script
    table = table_of(file)
    assert_gives(table, script.total())
    assert all(row.held is None for row in table.rows)  # nothing but these calls is in .grad


def test_each_call_is_what_it_gave(paddle_script):
    script, file = paddle_script
    for number, gave in enumerate(script.gradients, 1):
        assert_gives(table_of(file, backward=str(number)), gave)


def test_no_leaf_lacks_what_a_call_gave(paddle_script):
    script, file = paddle_script
    given = {n for n, g in script.total().items() if np.abs(g).max() > 1e-3}
    missing = {a.name for a in Why().ask(Request(str(file))) if a.finding and not a.has_gradient}
    assert not given & missing


def test_sizes_are_those_of_the_sum(paddle_script):
    script, file = paddle_script
    norms = {x.name: x.gradient.norm for x in Stats().ask(Request(str(file))).story.parameters if x.gradient}
    for name, gradient in script.total().items():
        assert norms.get(name, 0) == pytest.approx(np.linalg.norm(gradient), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("seed", range(20))
def test_what_was_given_is_what_differences_are_taken_of(seed, tmp_path):
    script, file = drawn(seed), tmp_path / "model.py"
    script.calls, script.gradients = script.calls[:1], script.gradients[:1]
    file.write_text(script.text("paddle"), "utf-8")
    entries = Gradcheck().ask(Request(str(file))).story.entries
    assert entries
    assert {e.status for e in entries} == {"ok"}


@pytest.mark.parametrize("seed", range(20))
def test_no_difference_is_called_wrong_where_a_graph_is_gone_through_again(seed, tmp_path):
    file = tmp_path / "model.py"
    file.write_text(drawn(seed).text("paddle"), "utf-8")
    assert {e.status for e in Gradcheck().ask(Request(str(file))).story.entries} <= {"ok", "unchecked"}


@pytest.mark.parametrize("seed", range(COUNT))
def test_recorded_passes_of_pytorch_give_what_torch_gave(seed):
    script, run = drawn(seed), RUNS / f"run_{seed}.torchrun"
    assert_gives(table_of(run), script.total())
    for number, gave in enumerate(script.gradients, 1):
        assert_gives(table_of(run, backward=str(number)), gave)
