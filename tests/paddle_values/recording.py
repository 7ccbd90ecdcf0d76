"""Recording what Paddle computes, call by call, into a file of JSON; for the scripts ``record.py``.

Calls that are recorded already are left alone, unless ``--all`` is given. Paddle ends the process on some calls. So
they are made in a process of their own, and another one goes on behind a call that it did not come back from, which is
named.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tests.paddle_values.outcome import written


def record(script: str, calls: Iterable[str], outcome: Callable[[Any, str], dict[str, Any]]) -> None:
    """Record *calls* in ``values.json`` beside *script*; the worker that it starts makes them.

    Args:
        outcome: the parts of what a call gives, from the package ``paddle`` and the call.
    """
    if "--worker" in sys.argv:
        _work(outcome)
    else:
        _main(script, list(calls), Path(script).with_name("values.json"))


def _main(script: str, calls: list[str], target: Path) -> None:
    """Record everything, or what is not recorded yet."""
    table = json.loads(target.read_text()) if target.exists() and "--all" not in sys.argv else {}
    left = [text for text in calls if text not in table]
    while left:
        worker = subprocess.run(
            [sys.executable, script, "--worker"],
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
        for text in calls
        if text in table and "refused" not in table[text]
    ]
    target.write_text("{\n" + ",\n".join(rows) + "\n}\n")
    print(f"{len(rows)} calls, {target.stat().st_size / 1e3:.0f} kB")


def _work(outcome: Callable[[Any, str], dict[str, Any]]) -> None:
    """Make the calls that come in, and write what they give."""
    import paddle

    for line in sys.stdin:
        try:
            parts = outcome(paddle, json.loads(line))
            text = {part: [written(a) for a in arrays] for part, arrays in parts.items()}
        except Exception as error:
            text = {"refused": (str(error).strip() or type(error).__name__).splitlines()[-1]}
        print("call", json.dumps(text), flush=True)
