"""A baseline: a file of findings that are known, so that only new ones count.

Findings are known by their fingerprints, which stay when lines move. The file has a line for each, in order, so that a
review of its changes reads like one of a list.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import field, replace
from typing import Any

from ..core.command_errors import CommandError
from ..core.records import dataclass
from ..files import confined_paths, schema
from ..files.schema import TEXT, ListSchema, TableSchema, one_of, or_null
from .finding import EXTERNAL, Finding, Suppressed

SCHEMA = "gradtool/baseline/1"

USUAL = "gradtool-baseline.json"
"""The file where none is named."""

_FILE = TableSchema(
    {
        "schema": one_of(SCHEMA),
        "findings": ListSchema(
            TableSchema(
                {
                    **dict.fromkeys(("code", "fingerprint", "message", "model"), TEXT),
                    **dict.fromkeys(("file", "subject"), or_null(TEXT)),
                }
            )
        ),
    }
)

_NOT_ACCEPTED = ("GT903", "GT904", "GT905")
"""A model that was not checked is not a finding that one can know."""


@dataclass(frozen=True)
class Baseline:
    """Findings that are known.

    Attributes:
        entries: code, file, fingerprint, message, model, subject of each.
        file: its name.
    """

    entries: Sequence[dict[str, Any]] = ()
    file: str = field(default=USUAL, compare=False)

    def split(self, found: Sequence[Finding], models: Collection[str]) -> tuple[list[Finding], list[Suppressed], int]:
        """Findings that are new, those that are known, and how many known ones of *models* are there no longer.

        What stands twice in the baseline may be found twice.
        """
        left = Counter(entry["fingerprint"] for entry in self.entries)
        new, known = [], []
        here = {self._name(model) for model in models}
        for finding in found:
            fingerprint = self._place(finding).fingerprint
            if finding.code not in _NOT_ACCEPTED and left[fingerprint] > 0:
                left[fingerprint] -= 1
                known.append(self.suppress(finding))
            else:
                new.append(finding)
        ours = Counter(entry["fingerprint"] for entry in self.entries if entry["model"] in here)
        gone = sum(min(count, ours[fingerprint]) for fingerprint, count in left.items())
        return new, known, gone

    def suppress(self, finding: Finding) -> Suppressed:
        """A finding that stands here."""
        return Suppressed(finding, EXTERNAL, f"known: {os.path.basename(self.file)}")

    def renew(self, found: Sequence[Finding], models: Collection[str], root: str) -> Baseline:
        """The baseline with what is found in *models*; what it says of other models stays."""
        here = {self._name(model) for model in models}
        others = [entry for entry in self.entries if entry["model"] not in here]
        entries = [*others, *(_entry(self._place(f), root) for f in found if f.code not in _NOT_ACCEPTED)]
        return replace(self, entries=sorted(entries, key=_order))

    def _place(self, finding: Finding) -> Finding:
        """A finding with its model's name as it is seen from the folder of this file, wherever somebody checks from."""
        return replace(finding, model=self._name(finding.model))

    def _name(self, model: str) -> str:
        path = model if os.path.exists(model) else model.rpartition(":")[0]
        folder = os.path.dirname(os.path.abspath(self.file))
        if not os.path.exists(path) or folder == os.getcwd():
            return model
        relative = os.path.relpath(model, folder)
        return model if relative.startswith(os.pardir) else relative.replace(os.sep, "/")

    def text(self) -> str:
        """The file."""
        lines = ",\n".join(json.dumps(entry, sort_keys=True) for entry in self.entries)
        return (
            f'{{"schema": "{SCHEMA}", "findings": [\n{lines}\n]}}\n'
            if lines
            else f'{{"schema": "{SCHEMA}", "findings": []}}\n'
        )


def accepts(finding: Finding) -> bool:
    """Return whether a baseline may hold it."""
    return finding.code not in _NOT_ACCEPTED


def _entry(finding: Finding, root: str) -> dict[str, Any]:
    return {
        "code": finding.code,
        "file": None if finding.spot is None else finding.spot.relative_path(root),
        "fingerprint": finding.fingerprint,
        "message": finding.message,
        "model": finding.model,
        "subject": finding.subject or None,
    }


def _order(entry: dict[str, Any]) -> tuple[str, ...]:
    return (entry["model"], entry["file"] or "", entry["code"], entry["subject"] or "", entry["fingerprint"])


def read(path: str) -> Baseline:
    """Return the baseline in a file.

    Raises:
        CommandError: there is none, or it cannot be read.
        FileFormatError: it is no baseline.
    """
    try:
        with open(path, "rb", opener=confined_paths.opener) as file:
            data = file.read()
    except FileNotFoundError:
        raise CommandError(f"no such baseline: {path}", "gradtool check --write-baseline writes one") from None
    except OSError as error:
        raise CommandError(f"cannot read {path}: {error.strerror}") from None
    values = schema.read(data, path, _FILE, "gradtool check --write-baseline writes one")
    return Baseline(values["findings"], path)
