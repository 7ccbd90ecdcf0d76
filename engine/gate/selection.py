"""Rules to apply, and their settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from ..core.command_errors import CommandError, unknown
from ..core.records import dataclass
from . import rules
from .finding import Severity
from .rule import Options, Rule


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Rules to apply, and their settings.

    Attributes:
        select: codes, beginnings of codes or names; the rules that are on by default when empty.
        ignore: likewise, what is left out of these.
        extend: likewise, what is added to these.
        severities: code -> the severity in place of the rule's own.
        options: code -> numbers in place of the rule's own.
        parameters: globs of parameters, and by code the numbers that hold for them; the later ones are stronger.
        golden: whether there are golden files, so that rules which compare with one can be applied.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend: tuple[str, ...] = ()
    severities: Mapping[str, Severity] = field(default_factory=dict)
    options: Mapping[str, Options] = field(default_factory=dict)
    parameters: Sequence[tuple[tuple[str, ...], Mapping[str, Options]]] = ()
    golden: bool = False

    def special(self, code: str) -> list[tuple[tuple[str, ...], Options]]:
        """The numbers of a rule that hold for some parameters."""
        return [(patterns, options[code]) for patterns, options in self.parameters if code in options]

    def rules(self) -> list[Rule]:
        """The rules, in the order of their codes.

        Raises:
            CommandError: a selector stands for no rule, or for rules that compare with a golden file without one.
        """
        usual = {r.code: r for r in rules.every().values() if r.always}
        chosen = self._choose(self.select) if self.select else usual
        chosen |= self._choose(self.extend)
        for code in select_rules(self.ignore):
            chosen.pop(code, None)
        return [chosen[code] for code in sorted(chosen) if self.golden or not chosen[code].golden]

    def _choose(self, selectors: Iterable[str]) -> dict[str, Rule]:
        chosen: dict[str, Rule] = {}
        for selector in selectors:
            matched = select_rules((selector,))
            if not self.golden and all(rule.golden for rule in matched.values()):
                raise CommandError(f"{selector} compares with a golden file", "--golden FILE.gt.txt says which")
            chosen |= matched
        return chosen

    def data(self) -> dict[str, Any]:
        """Return the settings that decide about findings, as JSON's types; severities do not."""
        return {
            "select": list(self.select),
            "ignore": list(self.ignore),
            "extend": list(self.extend),
            "golden": self.golden,
            "options": {code: dict(options) for code, options in sorted(self.options.items())},
            "parameters": [[list(p), {c: dict(o) for c, o in sorted(t.items())}] for p, t in self.parameters],
        }

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Selection:
        """Read a selection from what :meth:`data` returned."""
        return cls(
            select=tuple(data["select"]),
            ignore=tuple(data["ignore"]),
            extend=tuple(data["extend"]),
            options=data["options"],
            parameters=[(tuple(patterns), options) for patterns, options in data["parameters"]],
            golden=data["golden"],
        )


def select_rules(selectors: Iterable[str]) -> dict[str, Rule]:
    """The rules that selectors stand for, by code.

    Raises:
        CommandError: one stands for no rule.
    """
    found: dict[str, Rule] = {}
    for selector in selectors:
        matched = rules.find_matches(selector)
        if not matched:
            raise unknown("rule", selector, [*rules.every(), *(r.name for r in rules.every().values())])
        found |= {rule.code: rule for rule in matched}
    return found
