"""Finding of a rule in a model: plain data, the same in every form of output."""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import os
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from ..core import source
from ..core.records import dataclass
from ..core.source import Location, Place
from ..kinds.watched_extent import WatchedPart


class Severity(enum.Enum):
    """Weight of a finding, the worst first."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    def reaches(self, least: Severity) -> bool:
        """Return whether it matters as much as *least*."""
        order = list(Severity)
        return order.index(self) <= order.index(least)


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a file.

    Attributes:
        file: the path.
        line, column: from 1.
        text: the line without what stands around it.
    """

    file: str
    line: int
    column: int
    text: str

    @classmethod
    def locate(cls, location: Location | Place) -> Spot | None:
        """The innermost line of the user's; None where it is not known."""
        if isinstance(location, Place):
            place = (location.path, location.line) if location else None
            text = "" if place is None else _line(*place).strip()
        else:
            place = source.file_and_line(location)
            text = source.text(*location[0]) if location else ""
        if place is None:
            return None
        whole = _line(*place)
        column = len(whole) - len(whole.lstrip()) + 1
        return cls(place[0], place[1], column, text)

    def data(self, root: str) -> dict[str, Any]:
        """Return the place in JSON's types; the path is relative to *root*."""
        return {"file": self.relative_path(root), "line": self.line, "column": self.column}

    def relative_path(self, root: str) -> str:
        """The path relative to *root* with ``/`` between folders; as it is if it lies elsewhere."""
        try:
            relative = os.path.relpath(self.file, root)
        except ValueError:  # another drive
            return self.file
        return self.file if relative.startswith("..") else relative.replace(os.sep, "/")


def _line(file: str, line: int) -> str:
    import linecache

    return linecache.getline(file, line).rstrip("\n")


@dataclass(frozen=True, slots=True)
class Finding:
    """Finding of a rule.

    Attributes:
        code, rule, severity: of the rule: ``GT103``, ``detached``, how much it matters.
        model: what the configuration or the command line calls the model.
        subject: the parameter or tensor, or empty for the model as a whole.
        message: what is wrong, in one sentence.
        spot: the line that is the cause, if it is known.
        also: other parameters of which the same is true for the same reason.
        explanation: sentences that say why.
        advice: what would mend it, or empty.
        places: lines that lead to the cause, each with what it is.
        evidence: what was measured, by name.
        scope: how much of the file was seen; None where the model could not be run.
    """

    code: str
    rule: str
    severity: Severity
    model: str
    subject: str
    message: str
    spot: Spot | None = None
    also: tuple[str, ...] = ()
    explanation: tuple[str, ...] = ()
    advice: str = ""
    places: tuple[tuple[str, Spot], ...] = ()
    evidence: Mapping[str, float] = field(default_factory=dict)
    scope: WatchedPart | None = None

    @property
    def sharers(self) -> tuple[str, ...]:
        """The other parameters, where the message is about one parameter and not about the whole run."""
        return self.also if self.subject and self.subject in self.message else ()

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that stay the same when lines move: of rule, model, subject and the line's text."""
        text = self.spot.text if self.spot is not None else ""
        parts = (self.code, self.model, self.subject, " ".join(text.split()))
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def order(self) -> tuple[Any, ...]:
        """By file, line, column, rule and subject; what has no place comes last."""
        spot = self.spot
        place = (0, spot.file, spot.line, spot.column) if spot is not None else (1, self.model, 0, 0)
        return (*place, self.code, self.subject)

    def pack(self) -> dict[str, Any]:
        """All of it in JSON's types; :meth:`unpack` reads it."""
        return {**dataclasses.asdict(self), "severity": self.severity.value}

    @classmethod
    def unpack(cls, data: Mapping[str, Any]) -> Finding:
        """The finding that :meth:`pack` gave."""
        spot = None if data["spot"] is None else Spot(**data["spot"])
        lists = {name: tuple(data[name]) for name in ("also", "explanation")}
        places = tuple((what, Spot(**place)) for what, place in data["places"])
        scope = None if data["scope"] is None else WatchedPart(**data["scope"])
        restored = {"severity": Severity(data["severity"]), "spot": spot, "places": places, "scope": scope}
        return cls(**{**data, **lists, **restored})

    def data(self, root: str) -> dict[str, Any]:
        """The finding in JSON's types; paths are relative to *root*."""
        return {
            "code": self.code,
            "rule": self.rule,
            "severity": self.severity.value,
            "model": self.model,
            "subject": self.subject or None,
            "also": list(self.also),
            "message": self.message,
            "explanation": list(self.explanation),
            "advice": self.advice or None,
            "fingerprint": self.fingerprint,
            "scope": None if self.scope is None else self.scope.data(),
            "source": None if self.spot is None else self.spot.data(root),
            "places": [{"what": what, **spot.data(root)} for what, spot in self.places],
            "evidence": dict(self.evidence),
        }


IN_SOURCE: Final = "inSource"
EXTERNAL: Final = "external"
"""Where it stands that a finding is left out: in a comment, or in the baseline; the words are SARIF's."""


@dataclass(frozen=True, slots=True)
class Suppressed:
    """A finding that does not count.

    Attributes:
        kind: :data:`IN_SOURCE` or :data:`EXTERNAL`.
        reason: what the comment says, or which baseline knows it.
    """

    finding: Finding
    kind: str
    reason: str

    def data(self, root: str) -> dict[str, Any]:
        """The finding in JSON's types, and why it does not count."""
        return {**self.finding.data(root), "suppression": {"kind": self.kind, "reason": self.reason or None}}
