"""The command, in this process: what it prints, what it writes, and its exit code."""

from __future__ import annotations

import contextlib
import io
import sys
from typing import NamedTuple

from gradtool.cli.main import main

EXPECTED = (0, 1, 2, 4)
"""Exit codes that a strange file or name may give: 3 would be the user's Python, 70 is a bug of gradtool's."""


class Done(NamedTuple):
    code: int
    out: str
    err: str


class WrongCode(AssertionError):
    """The command ended with an exit code that no file and no name may give."""


def gradtool(*arguments: str) -> Done:
    """Run the command; raises :class:`WrongCode` when it ends as it never may."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    code: object = 0
    typed, sys.stdin = sys.stdin, io.StringIO("")  # nobody types anything
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(arguments)
        except SystemExit as left:
            code = left.code
        finally:
            sys.stdin = typed
    texts = []
    for stream in (out, err):
        stream.flush()
        assert isinstance(stream.buffer, io.BytesIO)
        texts.append(stream.buffer.getvalue().decode("utf-8"))
    if code not in EXPECTED:
        raise WrongCode(f"exit code {code} of gradtool {' '.join(map(ascii, arguments))[:300]}: {texts[1][-1500:]}")
    assert isinstance(code, int)
    return Done(code, *texts)
