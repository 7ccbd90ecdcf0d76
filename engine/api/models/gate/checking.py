"""Rules applied to a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gradtool.engine.core.errors import GradtoolError

from ..errors import CommandError, ModelError, unknown
from ..loader import Request
from ..users_code import raised_at, stack_of
from . import rules
from .evidence import Evidence
from .finding import Finding, Severity, Spot
from .rule import Options, Rule

UNLOADED = "GT903"
"""The code of what is found where a model cannot be asked at all; :mod:`.rules.unloaded` describes it."""

BACKWARD_FAILS = "GT108"
"""The code of an error in backward that explains itself; the other answers do not come to an end after it."""


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Which rules are applied, and how.

    Attributes:
        select: codes, beginnings of codes or names; the rules that are on by default when empty.
        ignore: likewise, what is left out of these.
        extend: likewise, what is added to these.
        severities: code -> the severity in place of the rule's own.
        options: code -> numbers in place of the rule's own.
        golden: whether there are golden files, so that rules which compare with one can be applied.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend: tuple[str, ...] = ()
    severities: Mapping[str, Severity] = field(default_factory=dict)
    options: Mapping[str, Options] = field(default_factory=dict)
    golden: bool = False

    def rules(self) -> list[Rule]:
        """The rules, in the order of their codes.

        Raises:
            CommandError: a selector stands for no rule, or for rules that compare with a golden file without one.
        """
        chosen = self._named(self.select) if self.select else {r.code: r for r in rules.every().values() if r.always}
        chosen |= self._named(self.extend)
        for code in (rule.code for selector in self.ignore for rule in _matching(selector)):
            chosen.pop(code, None)
        return [chosen[code] for code in sorted(chosen) if self.golden or not chosen[code].golden]

    def _named(self, selectors: Iterable[str]) -> dict[str, Rule]:
        named: dict[str, Rule] = {}
        for selector in selectors:
            matched = _matching(selector)
            if not self.golden and all(rule.golden for rule in matched):
                raise CommandError(f"{selector} compares with a golden file", "--golden FILE.gt.txt says which")
            named |= {rule.code: rule for rule in matched}
        return named


def _matching(selector: str) -> list[Rule]:
    matched = rules.matching(selector)
    if not matched:
        raise unknown("rule", selector, [*rules.every(), *(r.name for r in rules.every().values())])
    return matched


def findings(
    request: Request, name: str, selection: Selection, feed: str | None = None, golden: str | None = None
) -> list[Finding]:
    """What the rules find in a model, in the order of files and lines; a model that raises is a finding itself.

    Args:
        request: how it is loaded.
        name: what findings call it.
        feed: a file of arrays to feed to a program.
        golden: the file that keeps its graph, if one does.

    Raises:
        CommandError: there is no such model or golden file, or a selector stands for no rule.
    """
    return applied(Evidence(request, name, feed, golden), selection)


def applied(evidence: Evidence, selection: Selection) -> list[Finding]:
    """What the rules find in a model that there is evidence of; as :func:`findings`."""
    found: list[Finding] = []
    try:
        for rule in selection.rules():
            severity = selection.severities.get(rule.code)
            for finding in evidence.asked(rule.code, rule.findings(evidence, selection.options.get(rule.code))):
                found.append(finding if severity is None else replace(finding, severity=severity))
    except (ModelError, GradtoolError) as error:
        if all(f.code != BACKWARD_FAILS for f in found):  # which says the same, and why
            found.append(_unloaded(evidence.name, error))
    return sorted(_once(found), key=lambda f: f.order)


def _unloaded(name: str, error: ModelError | GradtoolError) -> Finding:
    rule = rules.every()[UNLOADED]
    cause = error.__cause__ if isinstance(error, ModelError) and error.__cause__ is not None else error
    spot = Spot.of(raised_at(cause))
    return Finding(
        rule.code, rule.name, rule.severity, name, "", error.message, spot, (), tuple(stack_of(cause)), error.hint or ""
    )


def _once(found: Sequence[Finding]) -> list[Finding]:
    """Each root cause once: of the same subject at the same line, what the first of the rules says."""
    seen: set[tuple[str, Spot | None]] = set()
    once = []
    for finding in found:
        key = (finding.subject, finding.spot)
        if finding.subject and key in seen:
            continue
        seen.add(key)
        once.append(finding)
    return once
