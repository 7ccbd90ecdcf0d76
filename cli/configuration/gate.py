"""Entries of a configuration file that are no options of a command: models, rules, and what is ignored where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from . import nodes
from .nodes import ListNode, Node, TableNode

SEVERITIES: Final = ("error", "warning", "note")

CODES: Final = ListNode(nodes.text(), "Codes, beginnings of codes or names of rules.")

MODEL: Final = TableNode(
    "key of a model",
    {
        "target": nodes.text("model.py, model.py:build, pkg.mod:build, or a saved program; below this file's folder."),
        "name": nodes.text("Name that findings give it."),
        "feed": nodes.text("A file of arrays to feed, FILE.npz."),
        "arguments": ListNode(nodes.text(), "The arguments of a script, which stand behind -- on a command line."),
        "arg": ListNode(nodes.text(), "Arguments of the model's function, NAME=VALUE."),
        "steps": nodes.whole_or_text("Stop the file after so many backward passes, or all."),
        "loss": nodes.text("The loss: a Python name or a tensor name."),
        "seed": nodes.whole(doc="Seed of parameters and random feeds."),
        "mode": nodes.one_of(("auto", "static", "eager"), "static: as if the file began with paddle.enable_static()."),
        "backward": nodes.whole_or_text("The backward pass to look at: its number from 1, or line:FILE:LINE."),
        "limit": nodes.number(0, above=True, doc="Stop the file after so many seconds."),
        "module": nodes.switch("The target is a module, run as by python -m."),
    },
    needs=("target",),
    doc="A model that gradtool check without arguments looks at.",
)

SETTINGS: Final[Mapping[str, Node]] = {
    "severities": TableNode(
        "rule", others=nodes.one_of(SEVERITIES), doc="By code or name of a rule, a severity in place of its own."
    ),
    "thresholds": TableNode(
        "rule",
        others=TableNode("threshold", others=nodes.number(), doc="gradtool explain CODE lists them."),
        doc="By code or name of a rule, its thresholds.",
    ),
}
"""How rules are applied."""

OVERRIDE: Final = TableNode(
    "key of an override",
    {
        "files": ListNode(
            nodes.text(), "Paths and globs of model files, below this file's folder; all of them without."
        ),
        "parameters": ListNode(
            nodes.text(), "Names and globs of parameters: ignore, severities, thresholds for them alone."
        ),
        "select": CODES,
        "ignore": CODES,
        "extend-select": CODES,
        **SETTINGS,
    },
    doc="How models in some files, or some parameters, are checked; later ones are stronger.",
)

TABLES: Final[Mapping[str, Node]] = {
    "models": ListNode(MODEL, "The models that gradtool check without arguments looks at."),
    **SETTINGS,
    "per-file-ignores": TableNode("path", others=CODES, doc="By path or glob, rules whose findings there are skipped."),
    "per-parameter-ignores": TableNode(
        "parameter", others=CODES, doc="By name or glob, rules whose findings about such parameters are skipped."
    ),
    "overrides": ListNode(OVERRIDE, "How models in some files, or some parameters, are checked."),
}
"""Tables of the gate, beside the options of commands."""
