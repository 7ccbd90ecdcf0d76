"""The runs of the corpus, played without torch: ``why`` finds what is wrong in each, and nothing in the right ones."""

import pytest

from .answers import CORPUS, RUNS, answered, expected, names


@pytest.mark.parametrize("name", names())
def test_what_is_wrong_is_found(name):
    assert answered(RUNS / f"{name}.torchrun") == expected(CORPUS / f"{name}.py")
