"""Waivers: comments of a source that say which findings on their line are meant to be, and why.

::

    code = encoder(x).detach()  # gradtool: ignore[GT103] the encoder is trained elsewhere

A comment that stands alone speaks of the statement below it. One that waives nothing is a finding itself.
"""

from __future__ import annotations

import io
import os
import re
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

from ..core.records import dataclass
from . import rules
from .finding import Finding, Spot

CODE: Final = "GT902"
"""Of what is found about waivers themselves; :mod:`.rules.unused_waiver` describes it."""

_COMMENT: Final = re.compile(r"#\s*gradtool:\s*ignore\b(?:\[(?P<codes>[^\]]*)\])?(?P<reason>.*)")


@dataclass(frozen=True)
class Waiver:
    """A comment that waives findings.

    Attributes:
        file: as findings name it.
        line, column: of the comment, from 1.
        first, last: the lines of the statement that it speaks of.
        codes: what stands in its brackets.
        text: the comment.
    """

    file: str
    line: int
    column: int
    first: int
    last: int
    codes: tuple[str, ...]
    text: str

    def data(self) -> dict[str, Any]:
        """As JSON's types."""
        return asdict(self)

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Waiver:
        """Read a waiver from what :meth:`data` returned."""
        return cls(**{**data, "codes": tuple(data["codes"])})

    @property
    def reason(self) -> str:
        """Text behind its codes."""
        match = _COMMENT.search(self.text)
        return match["reason"].strip() if match is not None else ""

    @property
    def spot(self) -> Spot:
        """Place of the comment."""
        return Spot(self.file, self.line, self.column, self.text)

    def covers(self, finding: Finding) -> bool:
        """Return whether a finding is on a line of the statement."""
        spot = finding.spot
        if spot is None or not self.first <= spot.line <= self.last:
            return False
        return os.path.abspath(spot.file) == os.path.abspath(self.file)

    def waives(self, code: str) -> bool:
        """Return whether it names a rule: by its code, its name, or the beginning of codes."""
        return any(code == rule.code for selector in self.codes for rule in rules.find_matches(selector))


def find_waivers(file: str, text: str) -> list[Waiver]:
    """The waivers in the text of a file.

    Args:
        file: as findings name it.
    """
    if "gradtool:" not in text:
        return []
    found: list[Waiver] = []
    pending: list[tuple[tokenize.TokenInfo, re.Match[str]]] = []
    first = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                match = _COMMENT.search(token.string)
                if match is not None:
                    pending.append((token, match))
            elif token.type == tokenize.NEWLINE:
                found += (_waiver(file, comment, match, first, token.start[0]) for comment, match in pending)
                pending, first = [], 0
            elif token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER) and not first:
                first = token.start[0]
    except (tokenize.TokenError, SyntaxError):
        pass  # it is no Python, which is a finding of its own
    return [*found, *(_waiver(file, comment, match, 0, 0) for comment, match in pending)]


def _waiver(file: str, comment: tokenize.TokenInfo, match: re.Match[str], first: int, last: int) -> Waiver:
    codes = tuple(code.strip() for code in (match["codes"] or "").split(",") if code.strip())
    column = comment.start[1] + match.start() + 1
    return Waiver(file, comment.start[0], column, first, last, codes, match[0].strip())


@dataclass(frozen=True)
class WaiverUse:
    """Use of waivers by one model.

    Attributes:
        model: its name.
        waivers: in the files that it read.
        found: every finding about it, also those that are left out elsewhere.
        applied: the codes of the rules that were applied to it and could look at all of it.
        whole: whether it was checked to its end: else nothing can be said of what it does not find.
    """

    model: str
    waivers: Sequence[Waiver]
    found: Sequence[Finding]
    applied: frozenset[str]
    whole: bool


def match_waiver(finding: Finding, waivers: Iterable[Waiver]) -> Waiver | None:
    """The first of the waivers that says that a finding is meant to be; None where none does."""
    return next((w for w in waivers if w.covers(finding) and w.waives(finding.code)), None)


def find_problems(readings: Sequence[WaiverUse]) -> Iterator[Finding]:
    """Yield the problems with the waivers of all files, each once, for the first model that read it."""
    readers: dict[Waiver, list[WaiverUse]] = {}
    for reading in readings:
        for waiver in reading.waivers:
            readers.setdefault(waiver, []).append(reading)
    for waiver, models in sorted(readers.items(), key=lambda pair: (pair[0].file, pair[0].line, pair[0].column)):
        told = [r for r in models if CODE in r.applied]
        message = _wrong(waiver, models) if told else ""
        if message:
            rule = rules.every()[CODE]
            yield Finding(CODE, rule.name, rule.severity, told[0].model, "", message, waiver.spot, (), (), _ADVICE)


_ADVICE = "take it out, or name what is found: # gradtool: ignore[GT103] the reason"


def _wrong(waiver: Waiver, readings: Sequence[WaiverUse]) -> str:
    """Return the problem with a waiver; empty if it is right, or if that is not known."""
    if not waiver.codes:
        return "a waiver that names no rule waives nothing"
    unknown = [code for code in waiver.codes if not rules.find_matches(code)]
    if unknown:
        return f"a waiver names {', '.join(unknown)}: there is no such rule"
    unused = [code for code in waiver.codes if _is_unused(waiver, code, readings)]
    return f"nothing of {', '.join(unused)} is found here: the waiver is not used" if unused else ""


def _is_unused(waiver: Waiver, selector: str, readings: Sequence[WaiverUse]) -> bool:
    codes = {rule.code for rule in rules.find_matches(selector)}
    if not all(reading.whole and codes <= reading.applied for reading in readings):
        return False
    return not any(waiver.covers(f) and f.code in codes for reading in readings for f in reading.found)
