"""Records which tensors are leaves and get gradients: ``PYTHON tests/leaves/record.py`` where Paddle 3.3.1 is."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.leaves.calls import CALLS, outcome
from tests.paddle_values.recording import record

if __name__ == "__main__":
    record(__file__, CALLS, outcome)
