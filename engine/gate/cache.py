"""Results of models that have not changed, kept in a folder: a file of JSON for each.

An entry stands under a key of all that is known before a model runs: its name and settings, the rules and their
thresholds, the versions of gradtool, Python and NumPy. It holds what the run has used beside that (:mod:`.usage`), and
counts only as long as all of it is as it was. What cannot be read, or is not as it was written, is no entry.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
import os
import platform
import sys
from collections.abc import Iterable, Mapping
from typing import Any, Final

import gradtool

from ..files import confined_paths, digest_files, wheels
from . import file_state, rules
from .check_result import CheckedModel, Job
from .finding import Severity
from .rule import Rule

FOLDER: Final = ".gradtool_cache"

_FORM: Final = "3"
"""Of the files; another one is not read."""

_LIBRARIES: Final = ("onednn_",)
"""Beginnings of the names of wheels that compute and have no module."""

_VARIABLES: Final = ("GRADTOOL_", "PYTHON", "OMP_", "OPENBLAS_", "MKL_", "NUMBA_", "CUDA_")
"""Beginnings of variables that count although nobody is seen looking at them."""

_NOT_KEPT: Final = frozenset({"GT903", "GT904", "GT905"})
"""Findings of a model that was not checked: the next run may find what this one lacked."""

_IGNORED: Final = "# Made by gradtool check: what came of models that have not changed.\n*\n"


class ResultCache:
    """A folder of entries.

    Args:
        folder: where; it is made when there is something to keep.
    """

    def __init__(self, folder: str = FOLDER) -> None:
        self._folder = folder
        self._digests: dict[str, str | None] = {}
        self._new: dict[str, bytes] = {}

    def find(self, job: Job) -> CheckedModel | None:
        """Return the result of a job, if nothing that it depends on has changed."""
        data = _read(self._path(job))
        if data is None:
            return None
        try:
            return CheckedModel.read(data) if self._holds(data["used"]) else None
        except (KeyError, TypeError, ValueError, AttributeError):
            return None  # it is no entry

    def keep(self, job: Job, result: CheckedModel) -> None:
        """Keep what came of a job, if it will be so again; :meth:`write` writes it."""
        if result.used is not None and _NOT_KEPT.isdisjoint(f.code for f in result.findings):
            self._new[self._path(job)] = _entry(result.data())

    def write(self) -> None:
        """Write what is new; where that cannot be done, there is no cache."""
        if not self._new:
            return
        from ..files.writing import write_files  # where nothing has changed, nothing is written

        own = os.path.join(self._folder, self.stamp)
        try:
            confined_paths.make_folder(own)
            self._new[os.path.join(self._folder, ".gitignore")] = _IGNORED.encode()
            self._new[os.path.join(own, "rules.json")] = _entry({"rules": [_card(r) for r in rules.every().values()]})
            write_files(self._new, durable=False, direct=False)
            self._forget_others()
        except OSError:
            return
        self._new.clear()

    def recall_rules(self) -> None:
        """Have the table of rules from here, so that none is loaded only to be named."""
        data = _read(os.path.join(self._folder, self.stamp, "rules.json"))
        if data is None or rules.are_loaded():
            return
        try:
            rules.recall([_rule(card) for card in data["rules"]])
        except (KeyError, TypeError, ValueError):
            return

    def _forget_others(self) -> None:
        """Remove what other versions have kept."""
        import shutil

        for name in os.listdir(self._folder):
            path = os.path.join(self._folder, name)
            if name != self.stamp and len(name) == len(self.stamp) and os.path.isdir(path):
                shutil.rmtree(path, ignore_errors=True)

    def _path(self, job: Job) -> str:
        key = hashlib.sha256(json.dumps([job.data(), self._surroundings], sort_keys=True).encode()).hexdigest()
        return os.path.join(self._folder, self.stamp, f"{key[:32]}.json")

    @functools.cached_property
    def stamp(self) -> str:
        """Of everything that is installed and may decide about an answer."""
        # Not platform.platform(), which asks another process for the processor.
        system = (sys.platform, platform.release(), platform.machine(), *platform.libc_ver())
        parts = [_FORM, sys.version, *system, gradtool.__version__, *_installation(), sys.executable]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]

    @functools.cached_property
    def _surroundings(self) -> list[str]:
        variables = [f"{n}={v}" for n, v in sorted(os.environ.items()) if n.startswith(_VARIABLES)]
        return [os.getcwd(), *(hashlib.sha256(v.encode("utf-8", "surrogateescape")).hexdigest() for v in variables)]

    def _holds(self, used: Mapping[str, Any]) -> bool:
        """Return whether everything that a run used is unchanged."""
        if any(self._digest(file) != digest for file, digest in used["files"].items()):
            return False
        if any(file_state.folder_digest(folder) != names for folder, names in used["folders"].items()):
            return False
        if any(file_state.find_shadows(folder, used["names"]) != there for folder, there in used["beside"].items()):
            return False
        if any(file_state.hash_text(os.environ.get(name)) != value for name, value in used["variables"].items()):
            return False
        return used["environment"] is None or used["environment"] == file_state.environment()

    def _digest(self, file: str) -> str | None:
        """Return the digest of a file, read once for all models."""
        if file not in self._digests:
            self._digests[file] = file_state.digest(file)
        return self._digests[file]


def _installation() -> Iterable[str]:
    """Sizes and times of gradtool's own files and of the packages that compute."""
    yield from _own_files()
    for package in ("numpy", "ml_dtypes", "numba", "jax", "jaxlib"):
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.origin is not None:
            status = os.stat(spec.origin)
            yield f"{spec.origin}:{status.st_size}:{status.st_mtime_ns}"
    for place in wheels.folders(_LIBRARIES):
        yield f"{place}:{os.stat(place).st_mtime_ns}"


@functools.cache
def _own_files() -> tuple[str, ...]:
    """Return names, sizes and times of gradtool's own files, which this process has loaded or will load."""
    folders = [*gradtool.__path__]
    for part in ("engine", "paddle", "viz"):
        spec = importlib.util.find_spec(f"gradtool.{part}")
        folders += [] if spec is None else [*(spec.submodule_search_locations or ())]
    every = []
    for folder in _outermost(folders):
        for at, inner, files in os.walk(folder):
            inner[:] = sorted(f for f in inner if f != "__pycache__")
            for file in sorted(files):
                status = os.stat(os.path.join(at, file))
                every.append(f"{at}/{file}:{status.st_size}:{status.st_mtime_ns}")
    return tuple(every)


def _outermost(folders: Iterable[str]) -> list[str]:
    """Return the folders that lie in none of the others, each once."""
    every = list(dict.fromkeys(folders))
    return [folder for folder in every if not any(folder.startswith(other + os.sep) for other in every)]


def _entry(data: Mapping[str, Any]) -> bytes:
    """A file."""
    return digest_files.seal(json.dumps(data, sort_keys=True).encode())


def _read(path: str) -> dict[str, Any] | None:
    """Read what :func:`_entry` made; None for anything else."""
    body = digest_files.read(path)
    if body is None:
        return None
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _card(rule: Rule) -> dict[str, Any]:
    """All of a rule but what it does."""
    return {**{name: getattr(rule, name) for name in _PLAIN}, "severity": rule.severity.value}


_PLAIN: Final = (
    "code",
    "name",
    "summary",
    "why",
    "wrong",
    "right",
    "options",
    "by_parameter",
    "always",
    "shown",
    "alone",
    "golden",
)


def _rule(card: Mapping[str, Any]) -> Rule:
    code = card["code"]

    def look(evidence: Any, options: Any) -> Any:
        return rules.really()[code].look(evidence, options)

    plain = {name: card[name] for name in _PLAIN}
    plain["options"] = {name: (value, text) for name, (value, text) in card["options"].items()}
    return Rule(**plain, severity=Severity(card["severity"]), look=look)
