"""Records what Paddle computes: ``PYTHON tests/layer_values/record.py`` with the interpreter that has Paddle 3.3.1.

Calls that are recorded already are left alone, unless ``--all`` is given.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.layer_values.calls import CALLS
from tests.layer_values.operands import operands_of
from tests.paddle_values.outcome import outcome
from tests.paddle_values.recording import record

if __name__ == "__main__":
    record(__file__, CALLS, lambda paddle, call: outcome(paddle, call, operands_of(call)))
