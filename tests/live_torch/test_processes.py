"""Each file of this folder in a process of its own; collected where PyTorch is installed."""

from __future__ import annotations

import pytest

from .__main__ import FILES, run


@pytest.mark.parametrize("name", FILES)
def test_in_a_process_with_torch(name: str) -> None:
    done = run([name])
    assert done.returncode == 0, done.stdout
