"""What the benchmarks share: clocks, memory, and processes of their own."""

from __future__ import annotations

import argparse
import json
import os
import platform
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
    return {"gradtool": sys.executable, **dict(peers(parser, named))}


def peers(parser: argparse.ArgumentParser, named: Sequence[str] | None) -> list[tuple[str, str]]:
    """Names and interpreters of the peers that are *named* or in the environment; one name may have several."""
    pairs = []
    for text in named or [p for p in os.environ.get("GRADTOOL_BENCH_PEERS", "").split(",") if p]:
        name, _, python = text.partition("=")
        if name not in PEERS or not python:
            parser.error(f"--peer {text}: expected torch=PYTHON or paddle=PYTHON")
        pairs.append((name, python))
    return pairs


class Contender:
    """An engine in a process of its own, which answers lines of JSON, and waits while others have their turn.

    Attributes:
        version: of the engine; it is the first thing that the process says.
    """

    def __init__(self, module: str, name: str, python: str, **environment: str) -> None:
        """Start ``python -m module name``, with that in its environment besides."""
        command = [python, "-W", "ignore", "-m", module, name]
        whole = {**os.environ, "GLOG_minloglevel": "3", **environment}
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, cwd=ROOT, env=whole, stdin=pipe, stdout=pipe, text=True)
        self.name = name
        self.version: str = self._answer()["version"].partition("+")[0]

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            sys.exit(f"{self._process.args!r} has ended")
        return dict(json.loads(line))

    def ask(self, **asked: Any) -> dict[str, Any]:
        """The answer to that line."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def end(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def machine() -> dict[str, Any]:
    """What the times depend on."""
    import threadpoolctl

    (blas,) = (
        lib for lib in threadpoolctl.threadpool_info() if "numpy" in lib["filepath"] and lib["user_api"] == "blas"
    )
    kernels = f"{blas['internal_api']} {blas['version']} ({blas.get('architecture', 'its own kernels')})"
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "threads": blas["num_threads"],
        "blas": kernels,
    }


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
