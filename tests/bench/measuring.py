"""What the benchmarks share: clocks, memory, and processes of their own."""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


PEERS = ("torch", "paddle")


def interpreters(parser: argparse.ArgumentParser, named: Sequence[str] | None) -> dict[str, str]:
    """By engine the interpreter that has it: gradtool's own, and the peers that are *named* or in the environment."""
    engines = {"gradtool": sys.executable}
    for text in named or [p for p in os.environ.get("GRADTOOL_BENCH_PEERS", "").split(",") if p]:
        name, _, python = text.partition("=")
        if name not in PEERS or not python:
            parser.error(f"--peer {text}: expected torch=PYTHON or paddle=PYTHON")
        engines[name] = python
    return engines


def number(text: str) -> int:
    """``10k`` -> 10000, ``1M`` -> 1000000."""
    factor = {"k": 1_000, "K": 1_000, "M": 1_000_000}.get(text[-1:], 1)
    return int(text[:-1] if factor > 1 else text) * factor


def child(subject: str, *arguments: str) -> Any:
    """What a subject prints as JSON on its last line when it runs in a fresh process."""
    command = [sys.executable, "-m", f"tests.bench.{subject}", *arguments]
    out = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(out.splitlines()[-1])


def timed(action: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = action()
    return result, time.perf_counter() - start


def consumed(action: Callable[[], Any]) -> tuple[Any, float]:
    """What *action* gives, and the seconds of CPU time that it takes."""
    start = time.process_time()
    result = action()
    return result, time.process_time() - start


def memory() -> float:
    """Bytes that this process holds now (the most that it has held, where the system does not say)."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0
    return float(pages * os.sysconf("SC_PAGE_SIZE"))


def largest_resident() -> float:
    """The most that this process has held, in megabytes.

    ``ru_maxrss`` counts what the process held from which this one was forked, so it is only asked where there is no
    other.
    """
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024
