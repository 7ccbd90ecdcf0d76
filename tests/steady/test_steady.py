"""A sample of ``python -m tests.steady``: two runs of each script of Paddle give one answer."""

import pytest

from . import answers, names


@pytest.mark.parametrize("name", [name for name in names() if name.startswith("paddle_")])
def test_two_runs_give_one_answer(name):
    told = answers(name, (1, 77))
    assert len(told) == 1, "\n".join(told)
    assert next(iter(told)).startswith(("exit 0", "exit 1"))
