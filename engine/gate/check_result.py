"""Result of checking one model, in another process or in this one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.records import dataclass
from ..kinds.watched_extent import WatchedPart
from .finding import Finding
from .selection import Selection
from .subject import Subject
from .waivers import Waiver


@dataclass(frozen=True, kw_only=True)
class Job:
    """A model, and the rules that it is checked with.

    Attributes:
        timeout: seconds after which it is given up; None for no end.
        golden: the file that keeps its graph, if one does.
    """

    subject: Subject
    selection: Selection
    timeout: float | None = None
    golden: str | None = None

    def data(self) -> dict[str, Any]:
        """As JSON's types."""
        return {"subject": self.subject.data(), "selection": self.selection.data(), "golden": self.golden}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Job:
        """Read a job from what :meth:`data` returned."""
        subject, selection = Subject.read(data["subject"]), Selection.read(data["selection"])
        return cls(subject=subject, selection=selection, golden=data["golden"])


@dataclass(frozen=True, kw_only=True)
class CheckedModel:
    """Result of checking one model.

    Attributes:
        findings: in the order of files and lines; each root cause as often as rules found it.
        waivers: in the user's own files that were read as Python.
        said: what the model printed.
        unasked: codes of rules that could not look at all of the model.
        scope: how much of its file was seen; None where it could not be run.
        used: what else it depended on, see ``usage.py``; None where that is not known.
    """

    findings: Sequence[Finding]
    waivers: Sequence[Waiver] = ()
    said: str = ""
    unasked: Sequence[str] = ()
    scope: WatchedPart | None = None
    used: Mapping[str, Any] | None = None

    def data(self) -> dict[str, Any]:
        """As JSON's types."""
        return {
            "findings": [f.pack() for f in self.findings],
            "waivers": [w.data() for w in self.waivers],
            "said": self.said,
            "unasked": list(self.unasked),
            "scope": None if self.scope is None else self.scope.pack(),
            "used": self.used,
        }

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> CheckedModel:
        """Read a result from what :meth:`data` returned."""
        return cls(
            findings=[Finding.unpack(f) for f in data["findings"]],
            waivers=[Waiver.read(w) for w in data["waivers"]],
            said=data["said"],
            unasked=tuple(data["unasked"]),
            scope=None if data["scope"] is None else WatchedPart(**data["scope"]),
            used=data["used"],
        )
