"""What is collected: the tests of this folder run in processes of their own, where the name ``torch`` finds PyTorch."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any


def has_torch() -> bool:
    """Whether PyTorch is installed; by its package, since ``tests/torch`` has the name in the suite's process."""
    try:
        return bool(version("torch"))
    except PackageNotFoundError:
        return False


def pytest_ignore_collect(collection_path: Path, config: Any) -> bool | None:
    """Leave out what is for the other kind of process, and everything where PyTorch is not installed."""
    if collection_path.suffix != ".py":
        return None
    is_own = config.getoption("importmode") == "importlib"
    is_runner = collection_path.name == "test_processes.py"
    return None if has_torch() and is_own is not is_runner else True
