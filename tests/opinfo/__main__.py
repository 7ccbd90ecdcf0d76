"""PyTorch's own samples of its operators, computed by gradtool.

::

    python -m tests.opinfo --torch PYTHON [--paddle PYTHON] [--only NAME ...] [--most COUNT] [--list]

``--torch`` is an interpreter with torch 2.13.0, whose sample generators draw the calls and whose values and gradients
are compared; ``--paddle`` one with Paddle 3.3.1, which is asked where gradtool does not agree with PyTorch. Printed
are counts of samples, by operator with ``--list``.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import queue
import subprocess
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gradtool
from gradtool import paddle

from . import wire
from .adapters import ADAPTERS
from .judging import difference, verdict
from .replaying import Replay

LONGEST = 3000
"""Characters of a sample that is kept."""
ENV = {
    "OMP_NUM_THREADS": "1",
    "GLOG_minloglevel": "3",
    "PYTHONWARNINGS": "ignore",
    "PYTHONPATH": str(Path(__file__).parents[2]),
}


def drawn(python: str, names: list[str], most: int) -> Iterator[dict[str, Any]]:
    """The messages of PyTorch."""
    process = subprocess.Popen(
        [python, "-m", "tests.opinfo.drawing", str(most)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, env=os.environ | ENV,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("".join(f"{n}\n" for n in names).encode())
    process.stdin.close()
    left = len(names)
    while left:
        message = wire.receive(process.stdout)
        if message is None:
            raise SystemExit("PyTorch's process ended")
        if message == "end":
            left -= 1
        else:
            yield message
    process.wait()


class Peer:
    """Paddle in a process of its own, started anew when it dies."""

    def __init__(self, python: str, module: str = "paddle", patience: float = 60.0) -> None:
        self.command = [python, "-m", "tests.opinfo.replaying", module]
        self.patience = patience
        self.process: subprocess.Popen[bytes] | None = None

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        if self.process is None:
            self.process = subprocess.Popen(
                self.command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=os.environ | ENV,
            )
            self.answers: queue.Queue[Any] = queue.Queue()
            threading.Thread(target=self.listen, args=(self.process, self.answers), daemon=True).start()
        assert self.process.stdin is not None
        try:
            wire.send(self.process.stdin, message)
            answer = self.answers.get(timeout=self.patience)
        except (BrokenPipeError, queue.Empty):
            answer = None
        if answer is None:
            self.process.kill()
            self.process.wait()
            self.process = None
            return {"refused": "the process ended"}
        return answer

    @staticmethod
    def listen(process: Any, answers: queue.Queue[Any]) -> None:
        while (answer := wire.receive(process.stdout)) is not None:
            answers.put(answer)
        answers.put(None)


def smallest(message: dict[str, Any], samples: dict[tuple[str, str], dict[str, Any]]) -> None:
    """Keep the smallest sample of each operator and type that has several numbers, and a second order if any has."""
    key = message["op"], message["type"]
    now, before = (weight(m) for m in (message, samples.get(key)))
    if now < before and now[1] < LONGEST:
        samples[key] = message


def weight(message: dict[str, Any] | None) -> tuple[int, int]:
    """What makes a sample a poor one, and its size as a text."""
    if message is None:
        return 9, 0
    size = len(json.dumps(wire.written(wire.packed(message))))
    parts = message["answer"]
    numbers = max((r.size for r in parts["results"] if r is not None), default=0)
    return ("second" not in parts) + ("first" not in parts) + 3 * (numbers < 2), size


def beside(kind: str, message: dict[str, Any], ours: dict[str, Any], paddle: dict[str, Any]) -> str:
    """The kind of what is not right, when Paddle's answer is known."""
    if "refused" in paddle:
        return "refused by Paddle, too" if kind == "refused" else kind
    if kind == "not raised":
        return "Paddle computes" if not difference(ours, paddle) else "not raised, other values"
    if kind == "wrong":
        return "as Paddle" if not difference(ours, paddle) else kind
    theirs = {k: v for k, v in (message["answer"] or {}).items() if k != "second"}
    return "refused, Paddle differs" if kind == "refused" and difference(paddle, theirs) else kind


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.opinfo", description=__doc__.partition("\n")[0])
    parser.add_argument("--torch", required=True, help="a Python that has PyTorch")
    parser.add_argument("--paddle", help="a Python that has Paddle")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--most", type=int, default=150, help="samples of an operator and type")
    parser.add_argument("--list", action="store_true", help="a line for each operator")
    parser.add_argument("--keep", type=Path, help="a file that gets small samples that are right, for the tests")
    parser.add_argument("--answers", type=Path, help="a file that gets what is not right")
    options = parser.parse_args()
    gradtool.paddle.disable_static()
    names = options.only or sorted(ADAPTERS)
    peer = Peer(options.paddle) if options.paddle else None
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    kept: list[Any] = []
    samples: dict[tuple[str, str], dict[str, Any]] = {}
    for message in drawn(options.torch, names, options.most):
        ours = Replay(paddle, message).answer()
        kind, words = verdict(message, ours)
        if kind in ("wrong", "refused", "not raised", "alone") and peer is not None:
            theirs = peer.ask(message)
            kind = beside(kind, message, ours, theirs)
            kept.append((kind, words, message, ours, theirs))
        elif kind in ("wrong", "refused", "not raised", "alone"):
            kept.append((kind, words, message, ours, None))
        counts[message["op"]][kind] += 1
        if options.keep and kind == "right" and message["type"] in ("float64", "complex128"):
            smallest(message, samples)
    if options.keep:
        lines = [json.dumps(wire.written(wire.packed(m)), separators=(",", ":")) for _, m in sorted(samples.items())]
        options.keep.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")
    if options.answers:
        options.answers.write_bytes(pickle.dumps(kept))
    total: Counter[str] = Counter()
    for name, by in sorted(counts.items()):
        total.update(by)
        if options.list:
            print(f"{name:45} " + ", ".join(f"{n} {k}" for k, n in by.most_common()))
    print(
        f"{len(counts)} operators, {sum(total.values())} samples: "
        + ", ".join(f"{n} {k}" for k, n in total.most_common())
    )


if __name__ == "__main__":
    main()
