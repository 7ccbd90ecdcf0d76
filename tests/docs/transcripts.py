"""Pages as people follow them: files are written, edited, and asked about; what is printed stands on the page.

Of the blocks of code on a page, those with a title are files (``python title="train.py"``), a ``diff`` with the title
of one is an edit of it, and a ``console`` holds commands, each with what a terminal shows, errors and notes among it.
``echo $?`` is the exit code of the command before. A page without files is followed from the top of the repository.

Where a command measures time, digits and the order of lines are not compared. Decimal numbers may differ by a
thousandth, as processors add up products in different orders. Pictures that commands write and the page shows are
those in ``docs/pictures``.

``python -m tests.docs.transcripts PAGE…`` writes into pages, and pictures, what comes now.
"""

from __future__ import annotations

import io
import math
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from gradtool.cli.main import main
from tests.isolation import clean

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
DECIMAL = re.compile(r"(\d+\.\d+(?:e[+-]?\d+)?)")
CELL = re.compile(r"^In \[\d+\]: (.*)$", re.MULTILINE)


def followed(text: str) -> tuple[str, dict[str, bytes]]:
    """A page as it would be if each command on it printed what it prints now, and the pictures that it shows."""
    files = any(title for _, title, _ in BLOCK.findall(text))
    with TemporaryDirectory() as scratch, _inside(Path(scratch) if files else ROOT) as folder:
        reader = Reader(folder)
        page = BLOCK.sub(lambda match: _block(match, reader), text)
        drawn = {name: folder / name for name in shown(text)} if files else {}
        return page, {name: file.read_bytes() for name, file in drawn.items()}


def needs_torch(text: str) -> bool:
    """Whether a file of a page is a script of PyTorch."""
    return any(title and re.search(r"^import torch$", body, re.MULTILINE) for _, title, body in BLOCK.findall(text))


def shown(text: str) -> list[str]:
    """The pictures of ``docs/pictures`` that a page shows."""
    return re.findall(r"\]\((?:\.\./)?pictures/([\w.]+)\)", text)


def _block(match: re.Match[str], reader: Reader) -> str:
    language, title, body = match.groups()
    if language == "console":
        return f"```console\n{reader.console(body)}```"
    if title:
        (reader.edit if language == "diff" else reader.write)(title, body)
    return match[0]


@dataclass
class Reader:
    """Whoever follows a page, in a folder."""

    folder: Path
    code: int = field(default=0, init=False)

    def write(self, name: str, text: str) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def edit(self, name: str, change: str) -> None:
        """Replace the lines of a file that are marked with a minus by those after them, marked with a plus."""
        file = self.folder / name
        text = file.read_text(encoding="utf-8")
        for part in re.findall(r"(?:^[- ].*\n)*(?:^\+.*\n)+|(?:^-.*\n)+", change, re.MULTILINE):
            lines = part.splitlines(keepends=True)
            before, after = ("".join(line[1:] for line in lines if line[0] in marks) for marks in ("- ", "+ "))
            if text.count(before) != 1:
                raise ValueError(f"{name} has these lines {text.count(before)} times:\n{before}")
            text = text.replace(before, after)
        file.write_text(text, encoding="utf-8")

    def console(self, body: str) -> str:
        """Commands and what they print, one after another."""
        typed = "".join(f"{cell}\n" for cell in CELL.findall(body))
        parts = re.split(r"^\$ (.*)\n", body, flags=re.MULTILINE)[1:]
        pairs = zip(parts[::2], parts[1::2], strict=True)
        return "".join(f"$ {command}\n{self.told(command, before, typed)}" for command, before in pairs)

    def told(self, command: str, before: str, typed: str) -> str:
        """What a command prints; what stood there where only measured numbers differ, or last digits."""
        now = self.printed(command, typed)
        measured = command.startswith("gradtool stats --time") and _unmeasured(now) == _unmeasured(before)
        return before if measured or rounded_alike(now, before) else now

    def printed(self, command: str, typed: str) -> str:
        if command == "echo $?":
            return f"{self.code}\n"
        program, *arguments = shlex.split(command)
        if program == "cat":
            return "".join((self.folder / name).read_text(encoding="utf-8") for name in arguments)
        if program != "gradtool":
            raise ValueError(f"pages call gradtool, not {program}")
        said = io.StringIO()
        with clean(), redirect_stdout(said), redirect_stderr(said), _typing(typed):
            self.code = _exit_code(lambda: main(arguments))
        return said.getvalue()


def rounded_alike(a: str, b: str) -> bool:
    """Whether two texts are the same but for decimal numbers, each of which is the same to a thousandth."""
    ours, theirs = DECIMAL.split(a), DECIMAL.split(b)
    if ours[::2] != theirs[::2]:
        return False
    pairs = zip(ours[1::2], theirs[1::2], strict=True)
    return all(x == y or math.isclose(float(x), float(y), rel_tol=1e-3) for x, y in pairs)


def _unmeasured(text: str) -> list[str]:
    """The lines of a table without digits, bars and padding, in the order of the alphabet."""
    return sorted(re.sub(r"[\d.▁-█]+|\s+|(?<=\s)[µm]?s\b", " ", line) for line in text.splitlines())


def _exit_code(run: Callable[[], None]) -> int:
    try:
        run()
    except SystemExit as left:
        return int(left.code or 0)
    return 0


@contextmanager
def _inside(folder: Path) -> Iterator[Path]:
    """Work in a folder, without the settings that colour or cut what is printed."""
    before = Path.cwd()
    settings = {name: os.environ.pop(name) for name in ("FORCE_COLOR", "NO_COLOR", "COLUMNS") if name in os.environ}
    os.chdir(folder)
    try:
        yield folder
    finally:
        os.chdir(before)
        os.environ.update(settings)


@contextmanager
def _typing(text: str) -> Iterator[None]:
    before, sys.stdin = sys.stdin, io.StringIO(text)
    try:
        yield
    finally:
        sys.stdin = before


if __name__ == "__main__":
    for page in map(Path, sys.argv[1:]):
        text = page.read_text(encoding="utf-8")
        now, pictures = followed(text)
        page.write_text(now, encoding="utf-8")
        for name, data in pictures.items():
            (PICTURES / name).write_bytes(data)
