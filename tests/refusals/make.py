"""Record which of the calls Paddle refuses, and with what.

Run from the root of the repository with an interpreter that has ``paddlepaddle==3.3.1``::

    python -m tests.refusals.make

It writes refused.json. Every call has a process of its own: some of them end it.
"""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import paddle

from .calls import calls, names

FILE = Path(__file__).with_name("refused.json")


def answer(call: str) -> str:
    """The name of the exception, ``accepted``, or ``ended`` where Paddle ended the process or did not come back."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(5)
        try:
            eval(call, names(paddle))
            text = "accepted"
        except BaseException as error:
            text = type(error).__name__
        os.write(writing, text.encode())
        os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as pipe:
        text = pipe.read()
    return text if os.waitpid(child, 0)[1] == 0 else "ended"


def main() -> None:
    record: dict[str, Any] = {}
    for call in calls():
        record.setdefault(answer(call), []).append(call)
    FILE.write_text(json.dumps(record, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
