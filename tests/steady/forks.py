"""Query a script many times in forks of one process: ``python -m tests.steady.forks SCRIPT FIRST COUNT WORD…``.

The process imports once what the first run has needed. Each fork fills freshly given memory with other bytes. Its
answer is printed as a line of JSON. How strings are hashed is the same in all of them: that is for whoever starts this.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import runpy
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec

_PERTURB = -6
"""Number of glibc's setting for the byte that fills memory."""

_WITHOUT_EFFECT = ("gradtool.engine.", "gradtool.cli.", "gradtool.viz.", "numpy.", "rich.", "click.")
"""Packages whose import changes nothing."""


def main(script: str, first: int, count: int, words: Sequence[str]) -> None:
    """Print the answers of *count* runs, which have numbers from *first* on."""
    if script.startswith("torch_") and find_spec("torch") is not None:
        import torch  # noqa: F401
    for number in range(first, first + count):
        print(json.dumps(_query(number, words)), flush=True)


def _query(number: int, words: Sequence[str]) -> str:
    """Return the exit code of one run and all that it prints."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as names:
        child = os.fork()
        if not child:
            os.dup2(out.fileno(), 1)
            os.dup2(out.fileno(), 2)
            _run(number, words, names.fileno())
        _, status = os.waitpid(child, 0)
        out.seek(0)
        names.seek(0)
        for name in names.read().decode().split():
            importlib.import_module(name)
        return f"exit {os.waitstatus_to_exitcode(status)}\n{out.read().decode()}"


def _run(number: int, words: Sequence[str], names: int) -> None:
    """Run the command as a process of its own does, write the modules that it has imported, and end."""
    ctypes.CDLL(None).mallopt(_PERTURB, number % 255 + 1)
    sys.argv = ["gradtool", *words]
    code = 1
    try:
        runpy.run_module("gradtool", run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os.write(names, "\n".join(n for n in sys.modules if n.startswith(_WITHOUT_EFFECT) and _is_a_file(n)).encode())
        os._exit(code)


def _is_a_file(name: str) -> bool:
    spec = getattr(sys.modules[name], "__spec__", None)
    return spec is not None and spec.name == name and spec.has_location


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
