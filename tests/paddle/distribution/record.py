"""Record what Paddle 3.3.1's distributions answer: ``PYTHON tests/paddle/distribution/record.py`` with one that has it.

Each call is made in a process of its own, since some of Paddle's gradients end it; of those the values alone are
recorded.
"""

from __future__ import annotations

import json
import multiprocessing
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import cases
import paddle

FILE = Path(__file__).with_name("recorded.json")


def main() -> None:
    rows = {f"{made}.{asked}": answer(made, asked) for made, asked in cases.questions()}
    for made, asked in cases.draws():
        told = answer(made, asked)
        told.pop("values", None)
        told["grads"] = [grad is not None for grad in told.pop("grads", [])]
        rows[f"{made}.{asked}"] = told
    lines = [f"{json.dumps(row)}: {json.dumps(told)}" for row, told in rows.items()]
    FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"{len(rows)} answers of Paddle {paddle.__version__}")


def answer(made: str, asked: str) -> dict[str, Any]:
    """With gradients; where they end the process, without."""
    return apart(made, asked, True) or {**(apart(made, asked, False) or {"raises": ["crash"]}), "crash": True}


def apart(made: str, asked: str, grads: bool) -> dict[str, Any] | None:
    """The answer of a process of its own, None where that ended."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=tell, args=(there, made, asked, grads))
    process.start()
    there.close()
    try:
        told: dict[str, Any] = here.recv()
    except EOFError:
        return None
    finally:
        process.join()
    return told


def tell(there: Connection, made: str, asked: str, grads: bool) -> None:
    there.send(cases.answer(paddle, made, asked, grads))


if __name__ == "__main__":
    main()
