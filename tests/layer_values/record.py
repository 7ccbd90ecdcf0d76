"""Records what Paddle computes: ``PYTHON tests/layer_values/record.py`` with the interpreter that has Paddle 3.3.1.

Calls that are recorded already are left alone, unless ``--all`` is given. Paddle ends the process on some calls. So
they are made in a process of their own, and another one goes on behind a call that it did not come back from, which is
named.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.layer_values.calls import CALLS
from tests.layer_values.operands import operands_of
from tests.paddle_values.outcome import outcome, written

TARGET = Path(__file__).with_name("values.json")


def main() -> None:
    """Record everything, or what is not recorded yet."""
    table = json.loads(TARGET.read_text()) if TARGET.exists() and "--all" not in sys.argv else {}
    left = [text for text in CALLS if text not in table]
    while left:
        worker = subprocess.run(
            [sys.executable, __file__, "--worker"],
            input="".join(f"{json.dumps(text)}\n" for text in left),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=False,
        )
        lines = [line[5:] for line in worker.stdout.split("\n")[:-1] if line.startswith("call ")]
        for text, line in zip(left, lines, strict=False):
            table[text] = json.loads(line)
            if "refused" in table[text]:
                print(f"refused: {text}: {table[text]['refused']}")
        left = left[len(lines) :]
        if left:
            print(f"Paddle ended at {left.pop(0)}")
    rows = [
        f"{json.dumps(text)}: {json.dumps(table[text], separators=(',', ':'))}"
        for text in CALLS
        if text in table and "refused" not in table[text]
    ]
    TARGET.write_text("{\n" + ",\n".join(rows) + "\n}\n")
    print(f"{len(rows)} calls, {TARGET.stat().st_size / 1e3:.0f} kB")


def work() -> None:
    """Make the calls that come in, and write what they give."""
    import paddle

    for line in sys.stdin:
        call = json.loads(line)
        try:
            parts = outcome(paddle, call, operands_of(call))
            text = {part: [written(a) for a in arrays] for part, arrays in parts.items()}
        except Exception as error:
            text = {"refused": (str(error).strip() or type(error).__name__).splitlines()[-1]}
        print("call", json.dumps(text), flush=True)


if __name__ == "__main__":
    work() if "--worker" in sys.argv else main()
