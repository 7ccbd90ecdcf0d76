"""Models of the zoo as programs on Numba, in NumPy's bits; ``python -m tests.kernels.numba.zoo`` has all of them."""

from __future__ import annotations

import pytest

from tests.kernels.numba.zoo import compared


@pytest.mark.parametrize("name", ["deepfm", "gpt", "resnet", "vae"])
def test_a_model_gives_the_same_to_the_bit(name: str) -> None:
    outcome = compared(name, watched=name == "deepfm")
    assert not outcome.refused
    assert outcome.differences == []
    assert outcome.grouped > outcome.operators // 5
