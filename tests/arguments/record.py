"""Records which arguments get gradients: ``PYTHON tests/arguments/record.py`` where Paddle 3.3.1 is installed."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.arguments.calls import CALLS
from tests.arguments.outcome import outcome
from tests.paddle_values.recording import record

if __name__ == "__main__":
    record(__file__, CALLS, outcome)
