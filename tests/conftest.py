"""What every test starts from: static mode, empty programs, an empty scope, and random numbers from the beginning."""

from __future__ import annotations

import functools
import gc
import json
import os
import random
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from gradtool.engine.core import state
from gradtool.engine.kernels import choice
from gradtool.paddle.utils import unique_name
from tests import sampling
from tests.isolation import clean, interruptible, own_modules, unchanged
from tests.programs import missing_packages, not_installed

# Hundreds of tests start Python, and without byte code each of them would compile the package anew. Where none is to be
# left in the folders of the sources, it goes into a folder of its own.
if sys.dont_write_bytecode:
    sys.dont_write_bytecode, sys.pycache_prefix = False, str(Path(__file__).parents[1] / ".pytest_cache" / "bytecode")
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Hypothesis draws constants that it finds in the sources. It parses all of them, and its examples would change with a
# constant that nothing here reads.
providers.is_local_module_file = lambda path: False

# No test fails because a machine is busy.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what a run of tests can be asked for."""
    group = parser.getgroup("gradtool")
    group.addoption("--whole", action="store_true", help="take all cases of generated campaigns, not a sample")
    group.addoption(
        "--random-order", metavar="SEED", type=int, help="shuffle modules, some in two parts, and their tests"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Take all cases where that was asked for; end where a package that tests import is not installed."""
    sampling.whole = config.getoption("whole")
    if not hasattr(config, "workerinput") and (missing := not_installed()):
        raise pytest.UsageError(
            f"not installed: {', '.join(missing)} (pip install -e '.[dev]' --config-settings editable_mode=strict)"
        )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which system packages tests were skipped for."""
    skips = [report.longrepr for report in terminalreporter.stats.get("skipped", ())]
    if line := missing_packages(reason[2] for reason in skips if isinstance(reason, (list, tuple))):
        terminalreporter.write_line(line)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Have each worker take modules in a row: most of their fixtures are made once. Who is idle takes from the others.

    Only where nobody chose another way (``--dist``).
    """
    if config.getoption("dist") != "load":
        return None
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Draw the samples of marked tests, and put all tests in the order that was asked for."""
    items[:] = sampling.drawn(items)
    seed = config.getoption("random_order")
    if seed is not None:
        items[:] = shuffled(items, random.Random(seed))


def shuffled(items: list[pytest.Item], draw: random.Random) -> list[pytest.Item]:
    """Return the items with modules shuffled, and the tests inside of each; half of the modules in two parts.

    Another module runs between the parts, as where a worker takes tests from the other one: fixtures of a module are
    made a second time in the same process.
    """
    modules = [list(tests) for _, tests in groupby(items, key=lambda item: item.path)]
    draw.shuffle(modules)
    ordered: list[pytest.Item] = []
    rest: list[pytest.Item] = []
    for tests in modules:
        draw.shuffle(tests)
        end = draw.randrange(1, len(tests)) if len(tests) > 1 and draw.random() < 0.5 else len(tests)
        ordered += [*tests[:end], *rest]
        rest = tests[end:]
    return ordered + rest


def pytest_collection(session: pytest.Session) -> None:
    """Collect no garbage while tests are collected: there is little, and to look for it takes a third of the time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """What was collected stays until the end: collections of garbage need not go through it again and again."""
    gc.set_threshold(50_000)  # as commands have it, see cli/main.py
    gc.enable()
    gc.freeze()
    if "jsonschema" in sys.modules:
        _check_schemas_once()


def _check_schemas_once() -> None:
    """Check each schema against that of schemas once: it takes longer than most answers that are held to it."""
    from jsonschema import Draft202012Validator

    check = Draft202012Validator.check_schema
    checked = functools.cache(lambda text: check(json.loads(text)))
    setattr(Draft202012Validator, "check_schema", staticmethod(lambda schema: checked(json.dumps(schema))))  # noqa: B010


@pytest.fixture(autouse=True, scope="module")
def isolated_module(request: pytest.FixtureRequest) -> Iterator[set[str]]:
    """Keep what fixtures of a module do away from the other modules; the changes that its tests were reported for."""
    if hasattr(request.module, "gc"):  # its tests collect garbage again and again: what is older stays out of it
        gc.collect()
        gc.freeze()
    reported: set[str] = set()
    with state.keep_state(), clean(), interruptible(), unchanged(reported, every_class=True):
        yield reported


@pytest.fixture(autouse=True)
def isolated(isolated_module: set[str]) -> Iterator[None]:
    """Keep what a test does to the process's settings, programs, scope and seed away from the other tests."""
    with state.keep_state(), clean(), interruptible(), unchanged(isolated_module):
        state.enable_static()
        yield


@pytest.fixture(name="own_modules")
def forgotten() -> Iterator[None]:
    """Forget what the test imports from its folders."""
    with own_modules():
        yield


@pytest.fixture
def no_rule_raises(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail where a rule of the gate raises, which costs a user that rule alone and is reported as GT901."""
    from gradtool.engine.core.command_errors import CommandError
    from gradtool.engine.core.errors import GradtoolError
    from gradtool.engine.gate.evidence import Evidence

    raised: list[str] = []

    def failed(self: Evidence, code: str, error: Exception) -> None:
        if not isinstance(error, (CommandError, GradtoolError)):
            raised.append(f"{code} in {self.name}: {error!r}")
        note(self, code, error)

    note = Evidence.note_failure
    monkeypatch.setattr(Evidence, "note_failure", failed)
    yield
    assert raised == []


@pytest.fixture
def nobody_has_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no backend be chosen, whatever earlier tests did."""
    monkeypatch.delenv(choice.SETTING, raising=False)
    monkeypatch.setattr(choice._Process, "chosen", None)


@pytest.fixture
def dynamic(isolated: None) -> None:
    """Dynamic mode; what comes after the test is static again."""
    state.disable_static()


@pytest.fixture
def fresh_names() -> Iterator[None]:
    """Unique names that count from 0."""
    with unique_name.guard():
        yield


@pytest.fixture
def wide(isolated: None) -> None:
    """Parameters and constants of float64."""
    state.set_default_dtype("float64")
