"""The line that says how far a training is."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from typing import Any, TextIO

import numpy as np


class ProgressBar:
    """A line of text with the step, a bar, values and times, written as Paddle writes it.

    Args:
        num: how many steps there are; None where nobody knows.
        width: of the bar.
        verbose: 0: nothing; 1: one line that is written over; 2: a line for each update, without a bar.
        start: whether time runs from now on.
        file: where to; ``sys.stdout`` at the time by default.
    """

    def __init__(
        self,
        num: int | None = None,
        width: int = 30,
        verbose: int = 1,
        start: bool = True,
        file: TextIO | None = None,
        name: str = "step",
    ) -> None:
        self._num = num if isinstance(num, int) and num > 0 else None
        self._width = width
        self._verbose = verbose
        self._file = file
        self.name = name
        self._start: float | None = time.time() if start else None
        self._last = 0
        self._total = 0

    def start(self) -> None:
        """Let time run from now on."""
        self._start = time.time()

    def update(self, current_num: int, values: Iterable[tuple[str, Any]] | None = None) -> None:
        """Say that so many steps are done, with *values*, numbers or lists of them by name."""
        seconds = (time.time() - (self._start or time.time())) / current_num if current_num else 0.0
        said = "".join(f" - {key}:{_numbers(value)}" for key, value in values or ())
        if self._verbose == 1:
            self._over(current_num, said, seconds)
        elif self._verbose in (2, 3):
            step = f"{self.name} {current_num:3d}" if self._num is None else self._of(current_num)
            self._write(f"{step}{said}{_each(seconds)}\n")

    def _of(self, current: int) -> str:
        return f"{self.name} {current:{len(str(self._num))}d}/{self._num}"

    def _over(self, current: int, said: str, seconds: float) -> None:
        """Write over what was written last."""
        back = "\b" * self._total + "\r"
        if self._num is None:
            line = f"{self.name} {current:3d}{said}{_each(seconds)}"
            end = "\n"
        else:
            line = f"{self._of(current)} {self._bar(current)}{said}"
            left = f" - ETA: {_clock(seconds * (self._num - current))}" if current < self._num else ""
            line += left + _each(seconds)
            end = "" if current < self._num else "\n"
        pad = " " * max(self._total - len(line), 0) if self._num is not None else ""
        self._total = len(line)
        self._write(back + line + pad + end)

    def _bar(self, current: int) -> str:
        assert self._num is not None
        done = int(self._width * min(current / self._num, 1))
        head = "" if not done else "=" * (done - 1) + (">" if current < self._num else "=")
        return f"[{head}{'.' * (self._width - done)}]"

    def _write(self, text: str) -> None:
        file = self._file or sys.stdout
        file.write(text)
        file.flush()


def _numbers(value: Any) -> str:
    """A blank and the number, for each of them."""
    parts = value if isinstance(value, (list, tuple)) else [value]
    return "".join(f" {_number(part)}" for part in parts)


def _number(value: Any) -> str:
    if isinstance(value, (float, np.floating)) or (isinstance(value, np.ndarray) and value.size == 1):
        number = float(np.asarray(value).reshape(()))
        return f"{number:.4f}" if abs(number) > 1e-3 else f"{number:.4e}"
    return str(value)


def _each(seconds: float) -> str:
    """Return the time of a step."""
    if seconds >= 1 or seconds == 0:
        return f" - {seconds:.0f}s/step"
    return f" - {seconds * 1e3:.0f}ms/step" if seconds >= 1e-3 else f" - {seconds * 1e6:.0f}us/step"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"
    return f"{minutes}:{rest:02d}" if seconds > 60 else f"{rest}s"
