"""Records the table of types: ``PYTHON tests/types/record.py`` with the interpreter that has Paddle.

Paddle ends the process on some calls. So they are made in a process of their own, one line each; when it ends early,
the call that it did not come back from is noted as a refusal (``!``), and another one goes on behind it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.types.calls import CALLS, TYPES, kinds_of
from tests.types.dynamic import outcome

TARGET = Path(__file__).with_name("recorded.json")


def main() -> None:
    """Record everything, or what is not recorded yet."""
    table = json.loads(TARGET.read_text())["calls"] if TARGET.exists() and "--all" not in sys.argv else {}
    cases = [(text, types) for text in CALLS if text not in table for types in kinds_of(text)]
    cells = []
    while len(cells) < len(cases):
        worker = subprocess.run(
            [sys.executable, __file__, "--worker"],
            input="".join(json.dumps(case) + "\n" for case in cases[len(cells) :]),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=False,
        )
        cells += [line[5:] for line in worker.stdout.split("\n")[:-1] if line.startswith("cell ")]
        if worker.returncode:
            print("ended at", cases[len(cells)], worker.returncode)
            cells.append("!")
    for (text, _), cell in zip(cases, cells, strict=True):
        table.setdefault(text, []).append(cell)
    rows = {
        text: [" ".join(table[text][i : i + len(TYPES)]) for i in range(0, len(table[text]), len(TYPES))]
        if isinstance(table[text], list) and text in {c[0] for c in cases}
        else table[text]
        for text in CALLS
    }
    TARGET.write_text(json.dumps({"calls": rows}, indent=0) + "\n")


def work() -> None:
    """Make the calls that come in, and write what they give."""
    import paddle

    for line in sys.stdin:
        text, types = json.loads(line)
        print("cell", outcome(paddle, text, tuple(types)), flush=True)


if __name__ == "__main__":
    work() if "--worker" in sys.argv else main()
