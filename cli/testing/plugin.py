"""The hooks of pytest. Importing this loads neither NumPy nor the engine: whoever installs gradtool pays nothing.

What a hook does stands in the other modules, which are loaded when a test or an option asks for them.
"""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .fixture import GradientsFixture

MARKER = "gradtool"
_FIXTURE = "gradients"
_ASSERTIONS = "gradtool.cli.testing.assertions"
_LINE = (
    "gradtool(select=…, ignore=…, fail_on='error'): check what the test backpropagates with the rules of gradtool; "
    "codes as in gradtool explain --rules"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options, in a group of their own."""
    group = parser.getgroup("gradtool", "gradients (gradtool)")
    group.addoption(
        "--gradtool",
        action="store_true",
        help="check models as gradtool check does, each as a test: files named here, those that say "
        "'# gradtool: model', and those that are configured",
    )
    group.addoption(
        "--gradtool-select", action="append", default=[], metavar="CODE", help="rules to apply: GT103, GT1, ALL"
    )
    group.addoption("--gradtool-ignore", action="append", default=[], metavar="CODE", help="rules to skip")
    group.addoption(
        "--gradtool-update", action="store_true", help="write the graphs that assert_graph_matches compares with"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known; where nothing is named, models that are configured are looked for wherever they lie."""
    config.addinivalue_line("markers", _LINE)
    if config.getoption("gradtool") and config.args_source is not config.ArgsSource.ARGS:
        from .items import elsewhere

        config.args += elsewhere(config)


@pytest.fixture
def gradients(request: pytest.FixtureRequest) -> GradientsFixture:
    """Ask about the losses of a test: ``gradients.assert_no_nan(loss)``, ``print(gradients.why(loss))``."""
    from .fixture import GradientsFixture

    return GradientsFixture()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Watch a test that asks about gradients, with its fixtures."""
    if not _asks(item):
        return (yield)
    from . import losses

    with losses.watch_test(item):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Apply the rules after a marked test has run through."""
    result = yield
    if item.get_closest_marker(MARKER) is not None:
        from . import marker

        failure = marker.failure(item)
        if failure:
            pytest.fail(failure, pytrace=False)
    return result


def _asks(item: pytest.Item) -> bool:
    """Return whether a test queries gradients: by the fixture, the marker, or an assertion that its module imports."""
    if _FIXTURE in getattr(item, "fixturenames", ()) or item.get_closest_marker(MARKER) is not None:
        return True
    if _ASSERTIONS not in sys.modules:
        return False
    module = getattr(item, "module", None)
    return (
        any(
            getattr(value, "__module__", None) == _ASSERTIONS or getattr(value, "__name__", None) == "gradtool.testing"
            for value in vars(module).values()
        )
        if module is not None
        else False
    )


# -- models as tests ---------------------------------------------------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A file that is named on the command line and is no test file is a model, and not imported."""
    if not parent.config.getoption("gradtool") or _is_test_file(module_path, parent):
        return None
    return _model_file(module_path, parent)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Files that say that they are models, and models on the command line that are no Python files."""
    if not parent.config.getoption("gradtool"):
        return None
    from gradtool.engine.importers import is_called_model

    from .items import is_configured, is_marked

    named, configured = parent.session.isinitpath(file_path), is_configured(file_path, parent.config)
    if file_path.suffix == ".py":
        # One that is named and no test file comes by way of the hook above.
        wanted = (configured or is_marked(file_path)) and (not named or _is_test_file(file_path, parent))
    else:
        wanted = configured or (named and is_called_model(file_path))
    return _model_file(file_path, parent) if wanted else None


def _model_file(path: Path, parent: pytest.Collector) -> pytest.Collector:
    from .items import ModelFile

    file: pytest.Collector = ModelFile.from_parent(parent, path=path)
    return file


def _is_test_file(path: Path, parent: pytest.Collector) -> bool:
    import fnmatch

    patterns = [*parent.config.getini("python_files"), "__init__.py", "conftest.py"]
    return any(fnmatch.fnmatch(path.name, pattern) or path.match(pattern) for pattern in patterns)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say which graphs were written."""
    held = sys.modules.get("gradtool.cli.testing.golden")
    written = [] if held is None else held.take_written()
    if written:
        terminalreporter.section("gradtool")
        for path in written:
            terminalreporter.line(f"wrote {path}")
