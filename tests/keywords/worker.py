"""Makes the calls that come in, a line each, and writes what they give: ``PYTHON tests/keywords/worker.py``."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.keywords.outcome import outcome

if __name__ == "__main__":
    import paddle

    for line in sys.stdin:
        print("call", json.dumps(outcome(paddle, json.loads(line))), flush=True)
