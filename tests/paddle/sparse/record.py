"""Record what Paddle 3.3.1 answers: ``PYTHON tests/paddle/sparse/record.py`` with an interpreter that has it."""

from __future__ import annotations

import json
from pathlib import Path

import calls
import paddle
import paddle.sparse

FILE = Path(__file__).with_name("recorded.json")

if __name__ == "__main__":
    space = calls.names(paddle)
    lines = []
    for call in calls.CALLS:
        lines.append(f"{json.dumps(call)}: {json.dumps(calls.answer(call, space))}")
        FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(lines)} answers of Paddle {paddle.__version__}")
