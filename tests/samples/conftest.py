"""Loading the sample programs the way the command line does: with ``import paddle`` answered by gradtool."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from gradtool.paddle import _alias

SAMPLES = Path(__file__).parents[2] / "samples"


@pytest.fixture
def sample() -> Callable[[str], ModuleType]:
    """``sample("lenet_digits")`` executes that file anew and returns its module."""

    def load(name: str) -> ModuleType:
        path = SAMPLES / f"{name}.py"
        spec = importlib.util.spec_from_file_location(f"sample_{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        with _alias.active():
            spec.loader.exec_module(module)
        return module

    return load
