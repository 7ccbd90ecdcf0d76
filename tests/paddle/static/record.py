"""Records what Paddle 3.1.1 makes of the layers in ``layer_cases.py``.

Run with its interpreter: ``FLAGS_enable_pir_api=0 python tests/paddle/static/record.py``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import paddle
from layer_cases import CASES, run

paddle.enable_static()
records = {}
for case in CASES:
    made = run(paddle, case)
    arrays = {
        n: {"shape": list(a.shape), "data": [round(float(e), 7) for e in a.ravel()]} for n, a in made["values"].items()
    }
    records[case] = {"name": made["name"], "values": arrays}
lines = (f"{json.dumps(name)}: {json.dumps(record, separators=(',', ':'))}" for name, record in records.items())
Path(__file__).with_name("layer_values.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
