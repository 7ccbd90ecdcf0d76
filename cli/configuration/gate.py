"""Entries of a configuration file that are no options of a command: models, rules, and what is ignored where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gradtool.engine.files.schema import ListSchema, Shape, TableSchema

from . import shapes

SEVERITIES: Final = ("error", "warning", "note")

CODES: Final = ListSchema(shapes.text(), "Codes, beginnings of codes or names of rules.")

MODEL: Final = TableSchema(
    {
        "target": shapes.text("model.py, model.py:build, pkg.mod:build, or a saved program; below this file's folder."),
        "name": shapes.text("Name that findings give it."),
        "feed": shapes.text("A file of arrays to feed, FILE.npz."),
        "arguments": ListSchema(shapes.text(), "The arguments of a script, which stand behind -- on a command line."),
        "arg": ListSchema(shapes.text(), "Arguments of the model's function, NAME=VALUE."),
        "steps": shapes.whole_or_text("Stop the file after so many backward passes, or all."),
        "loss": shapes.text("The loss: a Python name or a tensor name."),
        "seed": shapes.whole(doc="Seed of parameters and random feeds."),
        "mode": shapes.one_of(("auto", "static", "eager"), "static: as if the file began with paddle.enable_static()."),
        "backward": shapes.whole_or_text("The backward pass to look at: its number from 1, or line:FILE:LINE."),
        "limit": shapes.number(0, above=True, doc="Stop the file after so many seconds."),
        "module": shapes.switch("The target is a module, run as by python -m."),
    },
    needs=("target",),
    what="key of a model",
    doc="A model that gradtool check without arguments looks at.",
)

SETTINGS: Final[Mapping[str, Shape]] = {
    "severities": TableSchema(
        what="rule", others=shapes.one_of(SEVERITIES), doc="By code or name of a rule, a severity in place of its own."
    ),
    "thresholds": TableSchema(
        what="rule",
        others=TableSchema(what="threshold", others=shapes.number(), doc="gradtool explain CODE lists them."),
        doc="By code or name of a rule, its thresholds.",
    ),
}
"""How rules are applied."""

OVERRIDE: Final = TableSchema(
    {
        "files": ListSchema(
            shapes.text(), "Paths and globs of model files, below this file's folder; all of them without."
        ),
        "parameters": ListSchema(
            shapes.text(), "Names and globs of parameters: ignore, severities, thresholds for them alone."
        ),
        "select": CODES,
        "ignore": CODES,
        "extend-select": CODES,
        **SETTINGS,
    },
    needs=(),
    what="key of an override",
    doc="How models in some files, or some parameters, are checked; later ones are stronger.",
)

TABLES: Final[Mapping[str, Shape]] = {
    "models": ListSchema(MODEL, "The models that gradtool check without arguments looks at."),
    **SETTINGS,
    "per-file-ignores": TableSchema(
        what="path", others=CODES, doc="By path or glob, rules whose findings there are skipped."
    ),
    "per-parameter-ignores": TableSchema(
        what="parameter", others=CODES, doc="By name or glob, rules whose findings about such parameters are skipped."
    ),
    "overrides": ListSchema(OVERRIDE, "How models in some files, or some parameters, are checked."),
}
"""Tables of the gate, beside the options of commands."""
