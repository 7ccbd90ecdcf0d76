"""Records what Paddle gives: ``python -m tests.keywords.record PYTHON`` with an interpreter that has Paddle 3.3.1."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import gradtool

from .drawing import calls

HERE = Path(__file__).parent
RECORDED = HERE / "recorded.json"


def asked(python: str, texts: list[str]) -> dict[str, Any]:
    """What Paddle gives for each call; those that end its process are left out."""
    table: dict[str, Any] = {}
    left = list(texts)
    while left:
        worker = subprocess.run(
            [python, str(HERE / "worker.py")],
            input="".join(f"{json.dumps(text)}\n" for text in left),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=False,
        )
        lines = [line[5:] for line in worker.stdout.split("\n")[:-1] if line.startswith("call ")]
        table.update(zip(left, map(json.loads, lines), strict=False))
        left = left[len(lines) :]
        if left:
            print(f"Paddle ended at {left.pop(0)}")
    return table


def written(table: dict[str, Any]) -> str:
    """The table as text: answers that several calls share stand there once."""
    answers = {json.dumps(answer, separators=(",", ":")): None for answer in table.values()}
    number = {text: n for n, text in enumerate(answers)}
    rows = [f"{json.dumps(call)}:{number[json.dumps(a, separators=(',', ':'))]}" for call, a in table.items()]
    return '{"answers":[\n' + ",\n".join(answers) + '\n],"calls":{\n' + ",\n".join(rows) + "\n}}\n"


def read() -> dict[str, Any]:
    """The recorded answer of each call."""
    table = json.loads(RECORDED.read_text(encoding="utf-8"))
    return {call: table["answers"][n] for call, n in table["calls"].items()}


def main() -> None:
    gradtool.paddle.disable_static()
    table = asked(sys.argv[1], list(calls()))
    RECORDED.write_text(written(table), encoding="utf-8")
    print(f"{len(table)} calls, {RECORDED.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
