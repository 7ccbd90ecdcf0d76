"""View of the rules of the gate."""

from __future__ import annotations

from typing import Any

from gradtool.engine.core.command_errors import unknown
from gradtool.engine.core.wording import command_line
from gradtool.engine.gate import rules
from gradtool.engine.gate.rule import Rule

from .view import Table, View


def every() -> View:
    """All rules as a table."""
    known = rules.every()
    table = Table(["code", "name", "severity", "on", "finds"])
    for rule in known.values():
        table.rows.append([rule.code, rule.name, rule.severity.value, "yes" if rule.always else "no", rule.summary])
    next_ = [command_line("gradtool", "explain", next(iter(known))), command_line("gradtool", "check", "MODEL")]
    return View("rules", {"rules": [_data(r) for r in known.values()]}, [table], next_)


def names() -> list[str]:
    """The names of all rules."""
    return [rule.name for rule in rules.every().values()]


def is_one(code: str) -> bool:
    """Return True where a code or a name means one rule."""
    return len(rules.find_matches(code)) == 1


def one(code: str) -> View:
    """One rule with its examples.

    Raises:
        CommandError: there is no such rule, or several begin like that.
    """
    matched = rules.find_matches(code)
    if len(matched) != 1:
        raise unknown("rule", code, [*rules.every(), *names()])
    (rule,) = matched
    on = "" if rule.always else " · off unless it is selected"
    on += " · compares with a golden file (--golden)" if rule.golden else ""
    blocks: list[str | Table] = [
        f"{rule.code} {rule.name} · {rule.severity.value}{on}",
        f"{rule.summary}\n\n{rule.why}",
    ]
    if rule.options:
        options = Table(["option", "value", "meaning"])
        options.rows += [[name, f"{value:g}", text] for name, (value, text) in rule.options.items()]
        blocks += ["", options]
    judged = ", ".join(f"{name} = {value:g}" for name, value in rule.shown.items())
    titles = ("wrong, compared with a golden file of what is right", "right") if rule.golden else ("wrong", "right")
    for title, source in zip(titles, (rule.wrong, rule.right), strict=True):
        blocks.append(
            "\n".join(
                [
                    "",
                    f"{title}{f' ({judged})' if judged else ''}:",
                    "",
                    *(f"    {line}".rstrip() for line in source.splitlines()),
                ]
            )
        )
    return View("rule", _data(rule), [*blocks, ""], [command_line("gradtool", "check", "MODEL", "--select", rule.code)])


def _data(rule: Rule) -> dict[str, Any]:
    return {
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity.value,
        "on": rule.always,
        "summary": rule.summary,
        "why": rule.why,
        "options": {name: {"value": value, "meaning": text} for name, (value, text) in rule.options.items()},
        "shown": dict(rule.shown),
        "golden": rule.golden,
        "wrong": rule.wrong,
        "right": rule.right,
    }
