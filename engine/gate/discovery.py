"""Models to check: those that are named, and those in folders that say so themselves or are configured."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from ..core.command_errors import CommandError
from ..core.records import dataclass
from ..loading import targets
from ..script import sessions
from . import subject
from .subject import Subject

_NOT_ENTERED = frozenset({"__pycache__", "node_modules", "site-packages", "build", "dist"})
"""Folders without models; those whose name begins with a dot, and virtual environments, have none either."""


@dataclass(frozen=True, kw_only=True)
class Models:
    """Known models, before any is named.

    Attributes:
        options: how they are loaded unless something else is said.
        said: names in *options* that the command line has said: they hold for every model.
        feed: a file of arrays, likewise.
        tables: of a configuration file, a table for each model.
        folder: where that file lies.
        place: the file, for messages.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    said: frozenset[str] = frozenset()
    feed: str | None = None
    tables: Sequence[Mapping[str, Any]] = ()
    folder: str = "."
    place: str = ""

    def select(self, words: Sequence[str]) -> list[Subject]:
        """The models that words of a command line stand for, each once, in the order of the words.

        Args:
            words: files, functions of files, modules, folders, globs; none for the models that are configured.

        Raises:
            CommandError: nothing is there, or a line of a file says what it cannot.
        """
        found: dict[str, Subject] = {}
        for each in self._each(words):
            where = os.path.abspath(each.target) if os.path.exists(each.file) else each.target
            key = repr((where, each.feed, sorted(each.options.items())))
            found.setdefault(key, each)
        return distinct(found.values())

    def _each(self, words: Sequence[str]) -> Iterator[Subject]:
        if not words:
            yield from self._default_models()
        for word in words:
            if self._as_module:
                yield from self._find_in_file(word)  # a package lies in a folder of its name, which is not searched
            elif os.path.isdir(word):
                there = [*self._find_in_folder(word)]
                if not there:
                    raise CommandError(
                        f"no models in {word}", "a line '# gradtool: model' in a file, or [[models]] in gradtool.toml"
                    )
                yield from there
            elif _is_glob(word):
                files = [f for f in sorted(glob.glob(word, recursive=True)) if os.path.isfile(f)]
                if not files:
                    raise CommandError(f"no file matches {word}")
                for file in files:
                    yield from self._find_in_file(file)
            else:
                yield from self._find_in_file(word)

    @property
    def _as_module(self) -> bool:
        """True if the words are names of modules, as behind ``python -m``."""
        return bool(self.options.get("as_module"))

    def _default_models(self) -> Iterator[Subject]:
        there = [*self.list_configured()] or [*self._find_in_folder(os.curdir)]
        if not there:
            raise CommandError(
                "no model is named, and none is configured",
                "gradtool check MODEL, [[models]] in gradtool.toml, or a line '# gradtool: model' in a file",
            )
        yield from there

    def list_configured(self) -> Iterator[Subject]:
        """The models of the configuration file, in its order."""
        for number, table in enumerate(self.tables, 1):
            target = self._target_path(str(table["target"]))
            rest = {k: v for k, v in table.items() if k != "target"}
            if "feed" in rest:
                rest["feed"] = _as_here(os.path.join(self.folder, str(rest["feed"])))
            place = f"{self.place}: model {number}"
            yield self._apply_options(subject.read(target, rest, self._usual(target), place))

    def _target_path(self, target: str) -> str:
        """A path of the configuration file as the current folder has it; what is no file is a module."""
        path, colon, function = target.rpartition(":")
        if not (colon and path and function.isidentifier()):
            path, colon, function = target, "", ""
        whole = os.path.normpath(os.path.join(self.folder, path))
        if not os.path.exists(whole) and os.sep not in path and "/" not in path and not path.endswith(".py"):
            return target
        return f"{_as_here(whole)}{colon}{function}"

    def _usual(self, target: str) -> Subject:
        return Subject(name=name_of(target), target=target, feed=self.feed, options=self.options)

    def _apply_options(self, model: Subject) -> Subject:
        """With what the command line says, which is stronger than a table."""
        feed = self.feed if "feed" in self.said else model.feed
        return replace(
            model, feed=feed, options={**model.options, **{n: self.options[n] for n in self.said & {*self.options}}}
        )

    def _find_in_file(self, word: str) -> Iterator[Subject]:
        """The models of one word that is no folder and no glob."""
        session = sessions.current()
        live = word == "-" or (session is not None and session.has(word.partition(":")[0]))
        configured = [] if live else [s for s in self.list_configured() if _is_meant(s, word)]
        if configured:
            yield from configured
            return
        if live or not os.path.isfile(word) or not word.endswith(".py"):
            if not live:
                _must_be_there(word, self._as_module)
            yield self._usual(word)
            return
        data = _read(word)
        if not subject.has_marker(data):
            yield self._usual(word)
            return
        for model in subject.read_subjects(word, data, self._usual(word)):
            yield self._apply_options(
                replace(model, feed=_feed_path(model.feed, word) if model.feed != self.feed else self.feed)
            )

    def _find_in_folder(self, folder: str) -> Iterator[Subject]:
        """The models in a folder and below, in the order of their paths."""
        configured = [s for s in self.list_configured() if _is_below(s.file, folder)]
        files = {os.path.abspath(s.file) for s in configured}
        told: list[tuple[str, Subject]] = [(s.file, s) for s in configured]
        for file in _files(folder):
            if os.path.abspath(file) in files or not subject.has_marker(_read(file)):
                continue
            told += [(file, s) for s in self._find_in_file(file)]
        yield from (s for _, s in sorted(told, key=lambda pair: os.path.abspath(pair[0])))


def _as_here(path: str) -> str:
    """A path relative to the current folder, if it is below."""
    relative = os.path.relpath(path)
    return os.path.normpath(path) if relative.startswith(os.pardir) else relative


def name_of(target: str) -> str:
    """Return the name of a model in findings: its path from the current folder, with ``/``."""
    if not os.path.isabs(target) and not target.startswith("."):
        return target.replace(os.sep, "/")
    try:
        relative = os.path.relpath(target)
    except (ValueError, OSError):  # another drive; no current folder
        return target
    return target if relative.startswith(os.pardir) else relative.replace(os.sep, "/")


def _must_be_there(word: str, as_module: bool) -> None:
    """Raise :class:`CommandError` for a word that is no model: before anything runs."""
    targets.target(word, as_module=as_module)


def _read(file: str) -> bytes:
    try:
        with open(file, "rb") as stream:
            return stream.read()
    except OSError as error:
        raise CommandError(f"cannot read {file}: {error.strerror}") from None


def _files(folder: str) -> Iterator[str]:
    """The Python files of a folder and below, in order."""
    for at, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if f[0] != "." and f not in _NOT_ENTERED and not _is_environment(at, f))
        here = "" if at == os.curdir else at.removeprefix(os.curdir + os.sep)
        yield from (os.path.join(here, file) for file in sorted(files) if file.endswith(".py"))


def _is_environment(at: str, folder: str) -> bool:
    return os.path.isfile(os.path.join(at, folder, "pyvenv.cfg"))


def _is_glob(word: str) -> bool:
    return any(c in word for c in "*?[") and not os.path.exists(word)


def _same(path: str, other: str) -> bool:
    return os.path.abspath(path) == os.path.abspath(other)


def _is_meant(model: Subject, word: str) -> bool:
    """Return whether a configured model is the one that *word* names; a file that is there is no module because of a
    file.
    """
    if model.options.get("as_module") and os.path.exists(word):
        return False
    return _same(model.target, word) or _same(model.file, word)


def _is_below(path: str, folder: str) -> bool:
    return os.path.abspath(path).startswith(os.path.join(os.path.abspath(folder), ""))


def _feed_path(feed: str | None, file: str) -> str | None:
    return None if feed is None else os.path.join(os.path.dirname(file), feed)


def distinct(models: Iterable[Subject]) -> list[Subject]:
    """Models with names that are all different."""
    taken: dict[str, int] = {}
    told: list[Subject] = []
    for model in models:
        taken[model.name] = taken.get(model.name, 0) + 1
        count = taken[model.name]
        told.append(model if count == 1 else replace(model, name=f"{model.name} ({count})"))
    return told
