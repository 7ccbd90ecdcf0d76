"""Graphs that several tests of pictures share."""

from __future__ import annotations

import pytest

from tests.viz.models import MODES, NAMES, Model, loaded


@pytest.fixture(params=[f"{name}-{mode}" for name in NAMES for mode in MODES])
def model(request: pytest.FixtureRequest) -> Model:
    """ResNet-50 and GPT, in dynamic mode and as programs."""
    return loaded(*request.param.split("-"))
