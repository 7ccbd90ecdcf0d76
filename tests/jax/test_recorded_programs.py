"""Recorded cases of Paddle, computed on JAX: the values that Paddle computed."""

from __future__ import annotations

import pytest

from gradtool.engine.kernels import choice
from gradtool.paddle import _alias
from tests.parity import replay
from tests.parity.test_static_cases import DECIDED
from tests.parity.test_static_cases import test_case as replayed
from tests.sampling import sampled

NAMES = [n for n in replay.names("s") if n not in DECIDED]


@pytest.mark.parametrize("name", sampled(NAMES, str, one_in=20))
def test_a_recorded_program_computes_the_same(name: str) -> None:
    with _alias.active(), choice.use_backend("jax"):
        replayed(name)
