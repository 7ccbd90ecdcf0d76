"""Magics of a notebook's cell that are no Python, written as Python that keeps its lines.

Nothing of a shell is run. Magics that run Python (``%time``, ``%%capture``, ``%run``, ``%%writefile``) do; all others
show or set what has no meaning here.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_NOT_RUN = "gradtool runs no shell commands"

_TIMED = "time timeit prun memit mprun lprun"
"""Magics of a line that run what stands behind their options."""

_AROUND = frozenset({*_TIMED.split(), "capture", "gradtool"})
"""Magics of a cell that run it."""

_CELL = re.compile(r"\s*%%(\w+)[ \t]*(.*)")
_TIMES = re.compile(rf"(\s*)%(?:{'|'.join(_TIMED.split())})\s+(?:-\w+(?:\s+\d+)?\s+)*(.*)")
_RUN = re.compile(r"(\s*)%run\s+(?:-\w+\s+)*(\S+).*")
_TAKEN = re.compile(r"(\s*[\w.,\s]+=\s*)([!%].*)")
_OWN = re.compile(r"(\s*)([!%?].*|[\w.]+\?\??\s*)$")

_PIECES = re.compile(r"""#.*|\\.|[rbfuRBFU]*(?P<quote>\"""|'{3}|"|')|[()\[\]{}]""")
"""Where a line of Python may change whether its end is that of a statement."""


def python(text: str) -> str:
    """The cell as Python, line by line where it was."""
    lines = text.splitlines(keepends=True)
    first = next((i for i, line in enumerate(lines) if line.strip()), None)
    cell = None if first is None else _CELL.match(lines[first])
    if cell is None or first is None:
        return "".join(_statements(lines))
    name, rest = cell.groups()
    body = lines[first + 1 :]
    if name in _AROUND:
        return "".join([*lines[:first], _comment(lines[first]), *_statements(body)])
    if name in ("writefile", "file"):
        return "".join([*lines[:first], _write_file(rest, "".join(body)), *map(_comment, body)])
    return "".join(map(_comment, lines))


def _statements(lines: list[str]) -> list[str]:
    """Lines of a cell; only where a statement begins can one be the notebook's own."""
    spot = _Spot()
    return [spot.pass_line(_line(line) if spot.between else line) for line in lines]


class _Spot:
    """Position of a reader of Python at the end of a line.

    Attributes:
        between: between two statements: neither within brackets nor in a string, and not to be continued.
    """

    def __init__(self) -> None:
        self.between = True
        self._depth = 0
        self._quote = ""

    def pass_line(self, line: str) -> str:
        """The same line, after it was read."""
        at, going_on = 0, line.rstrip("\r\n").endswith("\\")
        while at < len(line):
            at = self._skip_string(line, at) if self._quote else self._piece(line, at)
        if len(self._quote) == 1 and not going_on:
            self._quote = ""  # no string ends a line without its quote: Python will say so
        self.between = not self._quote and self._depth <= 0 and not going_on
        return line

    def _piece(self, line: str, at: int) -> int:
        piece = _PIECES.search(line, at)
        if piece is None:
            return len(line)
        text = piece.group()
        if text in "([{":
            self._depth += 1
        elif text in ")]}":
            self._depth -= 1
        elif piece["quote"]:
            self._quote = piece["quote"]
        return piece.end()

    def _skip_string(self, line: str, at: int) -> int:
        end = re.compile(rf"\\.|{self._quote}", re.DOTALL).search(line, at)
        if end is None:
            return len(line)
        if end.group() == self._quote:
            self._quote = ""
        return end.end()


def _line(line: str) -> str:
    """A line at which a statement may begin."""
    for pattern, form in _FORMS:
        matched = pattern.match(line.rstrip("\r\n"))
        if matched is not None:
            return form(matched) + "\n"
    return line


def _ran(matched: re.Match[str]) -> str:
    space, file = matched[1], matched[2].strip("'\"")
    return f"{space}with open({file!r}, 'rb') as _: exec(compile(_.read(), {file!r}, 'exec'))"


_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], str]], ...] = (
    (_TIMES, lambda m: m[1] + (m[2] or "pass")),
    (_RUN, _ran),
    (_OWN, lambda m: f"{m[1]}pass  # {m[2]}"),
    (_TAKEN, lambda m: f"{m[1]}[{f'{m[2]}: {_NOT_RUN}'!r}]"),
)


def _comment(line: str) -> str:
    return f"# {line}"


def _write_file(words: str, text: str) -> str:
    """``%%writefile FILE``: the rest of the cell is written there."""
    name = words.split()[-1].strip("'\"") if words.split() else ""
    mode = "a" if "-a" in words.split() else "w"
    return f"with open({name!r}, {mode!r}, encoding='utf-8') as _: _.write({text!r})\n"
