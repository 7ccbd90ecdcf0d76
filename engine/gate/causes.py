"""Findings that come of others: each root cause once, with what it explains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from ..core.records import dataclass
from .finding import Finding, Severity, Spot


@dataclass(frozen=True)
class Absorbs:
    """Findings that explain others of the same model.

    Attributes:
        causes, effects: codes of rules.
        at_line: whether only effects at the line of the cause come of it.
        of_its_own: whether only effects come of it that are about its own parameters alone.
    """

    causes: Sequence[str]
    effects: Sequence[str]
    at_line: bool = True
    of_its_own: bool = False


ABSORBS: Final = (
    Absorbs(
        ("GT716",),
        ("GT201", "GT202", "GT203", "GT204", "GT205", "GT206", "GT208", "GT603", "GT702", "GT705", "GT715"),
        at_line=False,
    ),
    Absorbs(("GT717",), ("GT702", "GT715"), at_line=False),
    Absorbs(("GT104",), ("GT205", "GT206")),
    Absorbs(("GT206",), ("GT205", "GT208", "GT204", "GT603")),
    Absorbs(("GT101", "GT102", "GT103", "GT104", "GT205", "GT111"), ("GT111", "GT112", "GT113", "GT603")),
    Absorbs(("GT201", "GT202"), ("GT203", "GT204", "GT207", "GT715"), at_line=False),
    Absorbs(("GT201", "GT202"), ("GT209",)),
    Absorbs(("GT203", "GT204"), ("GT702",), at_line=False, of_its_own=True),
)
"""Causes and what comes of them, the strongest first."""

_OF_PARAMETERS: Final = ("GT10", "GT203", "GT204", "GT205", "GT206", "GT207", "GT208")
"""Beginnings of the codes of findings whose subject is a parameter."""


def roots(found: Sequence[Finding]) -> list[Finding]:
    """Return findings without those that come of another; the cause names what it explains.

    Of one parameter at one line only the first rule's finding stays.
    """
    left = _distinct(found)
    for row in ABSORBS:
        for cause in [f for f in left if f.code in row.causes]:
            effects = [f for f in left if f is not cause and f.code in row.effects and _comes_of(f, cause, row)]
            if effects:
                left = [_merge_effects(f, effects) if f is cause else f for f in left if f not in effects]
    return left


def _distinct(found: Sequence[Finding]) -> list[Finding]:
    seen: set[tuple[str, str, Spot | None]] = set()
    left = []
    for finding in sorted(found, key=lambda f: f.order):
        key = (finding.model, finding.subject, finding.spot)
        if finding.subject and key in seen:
            continue
        seen.add(key)
        left.append(finding)
    return left


def _comes_of(effect: Finding, cause: Finding, row: Absorbs) -> bool:
    if effect.model != cause.model:
        return False
    if row.of_its_own and not {effect.subject, *effect.also} <= {cause.subject, *cause.also}:
        return False
    if not row.at_line:
        return True
    ends = (effect.spot, cause.spot)
    return None not in ends and len({(s.file, s.line) for s in ends if s is not None}) == 1


def _merge_effects(cause: Finding, effects: Sequence[Finding]) -> Finding:
    """Return a finding with the parameters, sentences and severity of those that it explains."""
    of_parameters = [f for f in effects if f.subject and f.code.startswith(_OF_PARAMETERS)]
    names = [name for f in of_parameters for name in (f.subject, *f.also) if name != cause.subject]
    said = [f"the same cause gives {f.code}: {f.message}" for f in effects if f not in of_parameters and f.subject]
    return replace(
        cause,
        severity=min([f.severity for f in (cause, *effects)], key=list(Severity).index),
        also=tuple(dict.fromkeys([*cause.also, *names])),
        explanation=(*cause.explanation, *dict.fromkeys(said)),
    )
