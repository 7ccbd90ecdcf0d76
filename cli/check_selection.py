"""From the options of ``check`` and what files say to the models and rules that are meant."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import click

from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.core.records import dataclass
from gradtool.engine.gate import baseline as baselines
from gradtool.engine.gate.baseline import Baseline
from gradtool.engine.gate.discovery import Models
from gradtool.engine.gate.finding import EXTERNAL, Severity
from gradtool.engine.gate.policy import Override, Paths, Policy
from gradtool.engine.gate.report import Report
from gradtool.engine.gate.rule import Rule
from gradtool.engine.gate.selection import Selection, select_rules
from gradtool.engine.gate.subject import Subject, file_of
from gradtool.engine.request.limits import LOADING

from . import commands, configuration
from .configuration import paths
from .configuration.files import ConfigurationFile
from .configuration.permitted import Inside
from .configuration.settings import Settings
from .main import WORDS

if TYPE_CHECKING:
    from gradtool.engine.gate.cache import ResultCache
    from gradtool.engine.gate.check import Check

FEED: Final = Inside("rows")
"""How a model of a configuration file names what is fed to it."""

TRAINED: Final = ("GT703", "GT705")
"""The rules that ``--train`` adds: they look at as many steps as it says."""


@dataclass(frozen=True)
class GateOptions:
    """Options of ``check``, on the command line and in files.

    Attributes:
        models: what is known of models before any is named.
        writes: whether what is found is written to the baseline.
        exit_zero: whether no finding decides the exit code.
    """

    question: Check
    models: Models
    writes: bool
    exit_zero: bool


def read_options(context: click.Context, values: dict[str, Any]) -> GateOptions:
    """Read the options of ``check``, and take them out of *values*, except those for models and forms.

    Raises:
        CommandError: a file, a rule or a threshold is not there.
    """
    from gradtool.engine.gate.check import Check

    exit_zero, writes = values.pop("exit_zero"), values.pop("write_baseline")
    fail_on = Severity(values.pop("fail_on"))
    file, folder = values.pop("baseline"), values.pop("cache_dir")
    for name, path in (("baseline", file or baselines.USUAL), ("cache_dir", folder)):
        if context.get_parameter_source(name) is click.core.ParameterSource.DEFAULT:
            configuration.stays(context, path, os.curdir)  # nobody has named it: a link may lie there
    known = baseline(file, writes)
    kept = cache(values.pop("no_cache"), folder)
    rules, found = policy(context, values), models(context, values)
    question = Check(policy=rules, baseline=known, fail_on=fail_on, cache=kept, **values)
    return GateOptions(question, found, writes, exit_zero)


def codes(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Options with comma lists, taken apart."""
    return tuple(code.strip() for text in texts for code in text.split(",") if code.strip())


def models(context: click.Context, values: dict[str, Any]) -> Models:
    """Return the settings of models before any is named; takes the options out of *values*."""
    source = click.core.ParameterSource
    stronger = {
        n for n in (*LOADING, "feed") if context.get_parameter_source(n) in (source.COMMANDLINE, source.ENVIRONMENT)
    }
    options = {name: values.pop(name) for name in LOADING}
    if options["script"]:
        stronger.add("script")
    tables, file = configuration.settings_of(context).list_tables("models")
    return Models(
        options={n: list(v) if isinstance(v, tuple) else v for n, v in options.items() if v is not None},
        said=frozenset(stronger),
        feed=values.pop("feed"),
        tables=[] if file is None else [*_tables(tables, file)],
        folder="." if file is None else file.folder,
        place="" if file is None else file.place(("models",)),
    )


def find_subject(context: click.Context, values: Mapping[str, Any], feed: str | None) -> Subject | None:
    """Return the model of a command about one, with what ``[[models]]`` say of it; None where they say nothing.

    Raises:
        CommandError: there is no such model, or a table says what it cannot.
    """
    found = models(context, {name: values[name] for name in LOADING} | {"feed": feed})
    # Two tables about one file are two models for check: none of them is meant here.
    if not found.tables:
        return None
    subjects = found.select([values["model"]])
    return subjects[0] if len(subjects) == 1 else None


def _tables(tables: Sequence[Mapping[str, Any]], file: ConfigurationFile) -> Iterator[Mapping[str, Any]]:
    """The models of a configuration file; those that are files lie below its folder, and what is fed to them.

    Raises:
        CommandError: one lies elsewhere.
    """
    for number, table in enumerate(tables):
        places = {key: f"{file.place(('models', number, key))}: {key}" for key in ("target", "feed")}
        target = file_of(str(table["target"]))
        if os.sep in target or target.endswith(".py") or os.path.lexists(os.path.join(file.folder, target)):
            paths.resolve_inside(target, file.folder, places["target"])
        if "feed" in table:
            paths.resolve(str(table["feed"]), FEED, file, ("models", number, "feed"))
        yield table


def policy(context: click.Context, values: dict[str, Any]) -> Policy:
    """Return the policy for models, files and parameters; takes the options out of *values*.

    Raises:
        CommandError: a file names a rule or a threshold that is not there.
    """
    found = configuration.settings_of(context)
    severe: dict[str, Severity] = {}
    for row, place in _rows(found, "severities"):
        severe |= severities(row, place)
    numbers: dict[str, dict[str, float]] = {}
    for row, place in _rows(found, "thresholds"):
        for code, options in thresholds(row, place).items():
            numbers[code] = numbers.get(code, {}) | options
    said = frozenset(name for name in _SELECTORS if _is_said(context, name))
    overrides, file = found.list_tables("overrides")
    folder = "." if file is None else file.folder
    placed = [(table, "" if file is None else file.place(("overrides", n))) for n, table in enumerate(overrides)]
    for table, place in placed:
        _must_fit(table, place)
    return Policy(
        selection=selection(values, severe, numbers),
        said=said,
        overrides=[
            Override(
                files=Paths(folder, tuple(table["files"])) if "files" in table else None,
                parameters=tuple(table.get("parameters", ())),
                select=_check_selectors(table.get("select", ()), place),
                ignore=_check_selectors(table.get("ignore", ()), place),
                extend=_check_selectors(table.get("extend-select", ()), place),
                severities=severities(table.get("severities", {}), place),
                options=thresholds(table.get("thresholds", {}), place, by_parameter="parameters" in table),
            )
            for table, place in placed
        ],
        per_file=[
            (Paths(source.folder, (pattern,)), _check_selectors(codes, source.place(("per-file-ignores", pattern))))
            for table, source in found.tables("per-file-ignores")
            for pattern, codes in table.items()
        ],
        per_parameter={
            pattern: _check_selectors(codes, place)
            for table, place in _rows(found, "per-parameter-ignores")
            for pattern, codes in table.items()
        },
    )


def read_policy(context: click.Context) -> Policy:
    """Return what files say of rules, for a command that has no options of ``check`` itself.

    Raises:
        CommandError: as of :func:`policy`.
    """
    said = configuration.settings_of(context).command_settings("check", commands.load("check")).values
    return policy(context, {name: tuple(said.get(name, ())) for name in _SELECTORS} | {"train": None})


_SELECTORS: Final = ("select", "ignore", "extend_select")


def _rows(found: Settings, name: str) -> Iterator[tuple[dict[str, Any], str]]:
    """The keys of a table of the gate one by one, each with its place; what is stronger comes later."""
    for table, source in found.tables(name):
        for key, value in table.items():
            yield {key: value}, source.place((name, key))


def selection(
    values: dict[str, Any], severe: Mapping[str, Severity], numbers: Mapping[str, Mapping[str, float]]
) -> Selection:
    """Return the selection of rules; takes the options out of *values*.

    Args:
        severe, numbers: by code, the severity and the thresholds in place of the rule's own.
    """
    select, ignore, extend = (codes(values.pop(name)) for name in _SELECTORS)
    steps = values.pop("train")
    if steps is not None:
        extend = (*extend, *TRAINED)
        numbers = {**numbers, **{code: {**numbers.get(code, {}), "steps": float(steps)} for code in TRAINED}}
    return Selection(
        select=select,
        ignore=ignore,
        extend=extend,
        severities=severe,
        options=numbers,
    )


def severities(table: dict[str, Any], place: str) -> dict[str, Severity]:
    """By code, the severity that stands under codes, names or beginnings of codes."""
    return {code: Severity(word) for selector, word in table.items() for code in _rules((selector,), place)}


def _must_fit(table: Mapping[str, Any], place: str) -> None:
    """Raise :class:`CommandError` for an override that says nothing of whom, or selects rules for parameters."""
    if "files" not in table and "parameters" not in table:
        raise CommandError(f"{place}: overrides: files or parameters is missing")
    wrong = [key for key in ("select", "extend-select") if key in table]
    if "parameters" in table and wrong:
        raise CommandError(
            f"{place}: overrides: {wrong[0]} is about models, and parameters are not",
            "an override with parameters takes ignore, severities and thresholds",
        )


def thresholds(table: dict[str, Any], place: str, *, by_parameter: bool = False) -> dict[str, dict[str, float]]:
    """By code, the thresholds that stand under codes or names.

    Args:
        by_parameter: they are those of some parameters.

    Raises:
        CommandError: a rule has no threshold of a name, or none that parameters have.
    """
    told: dict[str, dict[str, float]] = {}
    for selector, options in table.items():
        for code, rule in _rules((selector,), place).items():
            if by_parameter and not rule.by_parameter:
                raise CommandError(f"{place}: {code} has no thresholds of single parameters")
            for name in options:
                if name not in rule.options:
                    known = ", ".join(rule.options) or "none"
                    raise CommandError(f"{place}: {code} has no threshold {name!r}; it has: {known}")
            told[code] = {name: float(value) for name, value in options.items()}
    return told


def _check_selectors(selectors: Sequence[str], place: str) -> tuple[str, ...]:
    """Selectors, each of which stands for a rule."""
    _rules(selectors, place)
    return tuple(selectors)


def _rules(selectors: Sequence[str], place: str) -> dict[str, Rule]:
    try:
        return select_rules(selectors)
    except CommandError as error:
        raise CommandError(f"{place}: {error.message}", error.hint) from None


def _is_said(context: click.Context, name: str) -> bool:
    """Return whether the command line or the environment sets an option."""
    return context.get_parameter_source(name) in (
        click.core.ParameterSource.COMMANDLINE,
        click.core.ParameterSource.ENVIRONMENT,
    )


def baseline(file: str | None, write: bool) -> Baseline:
    """The baseline that holds; an empty one where it is being written for the first time.

    Raises:
        CommandError: there is no such file, or it is no baseline.
    """
    path = file or baselines.USUAL
    if (file is None and not write) or (write and not os.path.exists(path)):
        return baselines.Baseline(file=path)
    return baselines.read(path)


def accept(report: Report, before: Baseline) -> tuple[Baseline, Report]:
    """The baseline with all that was found, and what is left to report then: models that were not checked."""
    renewed = before.renew(report.all, {*report.models}, os.path.dirname(os.path.abspath(before.file)))
    left = [f for f in report.all if not baselines.accepts(f)]
    known = [renewed.suppress(f) for f in report.all if baselines.accepts(f)]
    waived = [s for s in report.suppressed if s.kind != EXTERNAL]
    suppressed = sorted([*waived, *known], key=lambda s: s.finding.order)
    return renewed, replace(report, results=left, suppressed=suppressed, gone=0)


def cache(without: bool, folder: str) -> ResultCache | None:
    """Return the cache for results of models; None without one. The table of rules is taken from it, too."""
    if without:
        return None
    from gradtool.engine.gate.cache import ResultCache

    kept = ResultCache(folder)
    kept.recall_rules()
    return kept


def watch(context: click.Context, values: dict[str, Any]) -> int:
    """Check again whenever a file of the current folder, or a model that is named, changes.

    Raises:
        CommandError: what is checked is not there a second time, or changes files itself.
    """
    from . import file_watch

    models = values["models"]
    for wrong, what in (("-" in models, "standard input can be read once"), (values["write"], "--write changes files")):
        if wrong:
            raise CommandError(f"--watch checks again after every change, and {what}")
    line = context.meta[WORDS]
    end = line.index("--") if "--" in line else len(line)
    again = [word for word in line[:end] if word != "--watch"]
    named = [path for word in models for path in (word, word.rpartition(":")[0]) if os.path.exists(path)]
    outputs = [values["output"], *(text.partition("=")[2] for text in values["out"])]
    if values["write_baseline"]:
        outputs.append(values["baseline"] or baselines.USUAL)
    return file_watch.check_again([*again, *line[end:]], [os.curdir, *named], [file for file in outputs if file])
