"""A sample of ``python -m tests.steady``: two runs of each script of Paddle give one answer."""

import pytest

from tests.sampling import sampled

from . import answers, names


@pytest.mark.parametrize("name", sampled([n for n in names() if n.startswith("paddle_")], str, one_in=4))
def test_two_runs_give_one_answer(name):
    told = answers(name, range(19, 21))
    assert len(told) == 1, "\n".join(told)
    assert next(iter(told)).startswith(("exit 0", "exit 1"))
