"""Axes of a sweep: models by settings by seeds by data, as a list of points."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import product

from ..core.command_errors import CommandError
from ..core.records import dataclass
from ..data import arrays
from ..data.row_subset import Portion
from . import content
from .point import Point, key
from .ranges import MOST, Setting
from .spec import Spec


@dataclass(frozen=True, kw_only=True)
class Axes:
    """Axes of a sweep.

    Attributes:
        models: as the user wrote them.
        seeds: one at least.
        settings: every value of each with every value of the others.
        feeds: files of arrays, each fed as a whole.
        data: a file of arrays that is fed in batches of rows.
        batches: the sizes of these.
    """

    models: tuple[str, ...]
    seeds: tuple[int, ...] = (0,)
    settings: tuple[Setting, ...] = ()
    feeds: tuple[str, ...] = ()
    data: str | None = None
    batches: tuple[int, ...] = ()
    _content: dict[str, str] = field(default_factory=dict, repr=False, compare=False)

    def points(self) -> list[Point]:
        """Every point, models slowest, data fastest.

        Raises:
            CommandError: a file is not there, or there are too many points.
        """
        names = [setting.name for setting in self.settings]
        twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
        if twice is not None:
            raise CommandError(f"--set {twice} comes twice", f"--set {twice}=VALUE,VALUE has several values")
        settings = [tuple(zip(names, chosen, strict=True)) for chosen in product(*(s.values for s in self.settings))]
        portions: Sequence[Portion | None] = [*self._portions()] or [None]
        total = len(self.models) * len(settings) * len(self.seeds) * len(portions)
        if total > MOST:
            raise CommandError(f"{total} points, and a sweep has at most {MOST}")
        return [Point(m, seed, s, p) for m in self.models for s in settings for seed in self.seeds for p in portions]

    def _portions(self) -> Iterator[Portion]:
        for path in self.feeds:
            arrays.must_be_there(path)
            yield Portion(path)
        if self.data is None:
            return
        arrays.must_be_there(self.data)
        rows = arrays.length(self.data)
        for size in self.batches:
            if size > rows:
                raise CommandError(f"--rows {self.data}: batches of {size}, and there are {rows} rows")
            for first in range(0, rows, size):
                yield Portion(self.data, (first, min(first + size, rows)))

    def key(self, spec: Spec, point: Point) -> str:
        """The key of the answer at a point: the same for the same question about the same contents."""
        portion = point.portion
        data = None if portion is None else [self._digest_data(portion.path), portion.rows, point.chosen]
        asked = [content.versions(), spec.data(), self._digest_model(point.model)]
        return key(asked, point.seed, point.settings, data)

    def _digest_model(self, model: str) -> str:
        if model not in self._content:
            self._content[model] = content.digest_model(model)
        return self._content[model]

    def _digest_data(self, path: str) -> str:
        if path not in self._content:
            self._content[path] = arrays.identity(path)
        return self._content[path]

    def contents(self) -> dict[str, str]:
        """Model -> what stands for its contents."""
        return {model: self._digest_model(model) for model in self.models}


def models(words: Sequence[str], patterns: Sequence[str]) -> tuple[str, ...]:
    """The models that are named, and those of patterns, in this order.

    Raises:
        CommandError: a pattern fits no file, or there is no model.
    """
    told = dict.fromkeys([*words, *(path for pattern in patterns for path in files(pattern, "--models"))])
    if not told:
        raise CommandError("which model?", "gradtool sweep nan model.py --seeds 0..99, or --models 'zoo/*.py'")
    return tuple(told)


def files(pattern: str, option: str) -> list[str]:
    """The files that fit a pattern, in order; a path without ``*`` is itself.

    Raises:
        CommandError: none does.
    """
    if arrays.is_remote(pattern):
        return _remote(pattern, option)
    if os.path.exists(pattern):
        return [pattern]
    told = sorted(glob.glob(pattern, recursive=True))
    if not told:
        raise CommandError(
            f"{option} {pattern}: no such file", "quotes keep the shell from taking a pattern apart" * ("*" in pattern)
        )
    return told


def _remote(pattern: str, option: str) -> list[str]:
    if "*" not in pattern:
        return [pattern]
    system, inner = arrays.file_system(pattern)
    told = [str(system.unstrip_protocol(path)) for path in sorted(system.glob(inner))]
    if not told:
        raise CommandError(f"{option} {pattern}: no such file")
    return told
