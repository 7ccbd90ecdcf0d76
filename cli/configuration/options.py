"""The options of all commands as what may stand in a file, read from click: a new option needs nothing here."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Final

import click

from gradtool.engine.core.records import dataclass
from gradtool.engine.files.schema import ListSchema, Shape, ValueSchema

from .. import commands
from . import permitted, shapes
from .permitted import Class, Inside, Never

_THEMSELVES: Final = frozenset({"config_file", "isolated", "help", "script"})
"""Options that no file and no variable sets."""

_ANY: Final = frozenset({"backend"})
"""Options whose choices depend on what is installed."""


@dataclass(frozen=True)
class OptionSetting:
    """An option of a command.

    Attributes:
        key: its name in files: that of the option without the dashes.
        name: its name among the parameters.
        node: what it takes.
        use: whether a file may set it, and where its paths lie.
    """

    key: str
    name: str
    node: Shape
    use: Class

    @property
    def refusal(self) -> str | None:
        """Why no file sets it; None where one may."""
        return self.use.why if isinstance(self.use, Never) else None

    @property
    def path_form(self) -> Inside | None:
        """Form in which it names a path; None where it names none that a file may say."""
        return self.use if isinstance(self.use, Inside) else None

    @property
    def variable(self) -> str:
        """Its name in the environment, after what comes before."""
        return self.key.replace("-", "_").upper()


def command_options(name: str, command: click.Command) -> dict[str, OptionSetting]:
    """The options of the command *name*, by key."""
    form = name.partition(" ")[2]
    told = (
        _make_setting(name, p)
        for p in command.params
        if isinstance(p, click.Option) and p.name not in _THEMSELVES and form not in p.opts
    )
    return {setting.key: setting for setting in told}


def section(name: str) -> tuple[str, ...]:
    """The table of a command in files; that of a form stands inside: ``[stats.memory]``."""
    return tuple(name.replace(" --", " ").split())


def _make_setting(command: str, option: click.Option) -> OptionSetting:
    assert option.name is not None
    long = next((o for o in option.opts if o.startswith("--")), option.name.replace("_", "-")).removeprefix("--")
    node = _node(option)
    return OptionSetting(
        long,
        option.name,
        ListSchema(node, _doc(option)) if option.multiple else node,
        permitted.class_of(command, long),
    )


def _doc(option: click.Option) -> str:
    return (option.help or "").replace("; repeatable", "").replace("repeatable", "").strip()


def _node(option: click.Option) -> ValueSchema:
    doc, kind = _doc(option), option.type
    if option.count:
        return shapes.whole(0, doc=doc)
    if option.is_flag:
        return shapes.switch(doc)
    if isinstance(kind, click.Choice) and option.name not in _ANY:
        return shapes.one_of(tuple(str(c) for c in kind.choices), doc)
    if isinstance(kind, click.types.IntParamType):
        return shapes.whole(getattr(kind, "min", None), getattr(kind, "max", None), doc)
    if isinstance(kind, click.types.FloatParamType):
        return shapes.number(
            getattr(kind, "min", None), getattr(kind, "max", None), doc, getattr(kind, "min_open", False)
        )
    if (option.metavar or "").startswith("N|"):
        return shapes.whole_or_text(doc)
    return shapes.text(doc)


@cache
def options_by_command() -> dict[str, dict[str, OptionSetting]]:
    """The options of every command, by command and key."""
    return {name: command_options(name, commands.load(name)) for name in commands.every()}


@cache
def common_options() -> dict[str, Shape]:
    """Return the settings outside the tables of commands: options that most commands that have them mean alike.

    A command whose option of that name means something else (``graph --color``) takes nothing from there.
    """
    told: dict[str, Shape] = {}
    for key in sorted({key for settings in options_by_command().values() for key in settings}):
        meanings = Counter(_option_type(s[key].node) for s in options_by_command().values() if key in s)
        (meaning, count), *others = meanings.most_common()
        if not others or count > others[0][1]:
            told[key] = next(
                s[key].node for s in options_by_command().values() if key in s and _option_type(s[key].node) == meaning
            )
    return told


def takes(setting: OptionSetting) -> bool:
    """Return whether a setting outside the tables of commands applies to an option."""
    node = common_options().get(setting.key)
    return node is not None and _option_type(node) == _option_type(setting.node)


def _option_type(node: Shape) -> str:
    """Return the type that two options share if they are the same."""
    if isinstance(node, ListSchema):
        return f"list of {_option_type(node.of)}"
    assert isinstance(node, ValueSchema)
    return node.expected
