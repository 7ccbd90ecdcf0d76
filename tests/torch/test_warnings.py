"""Warnings of a framework name the line of the script, and count as shown there."""

import warnings

import pytest

from gradtool.engine.recorders.recorded import relays

SCRIPT = """
for _ in range(2):
    warn("at two lines")

warn("at two lines")
"""


@pytest.fixture
def names():
    inner = relays.wrap_relay(warnings.warn)
    yield {"__name__": "__main__", "warn": lambda text: inner(text, UserWarning)}
    relays.forget()


def test_a_warning_stands_where_the_script_called(names):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("default")
        exec(compile(SCRIPT, "train.py", "exec"), names)
    assert [(w.filename, w.lineno, str(w.message)) for w in seen] == [
        ("train.py", 3, "at two lines"),
        ("train.py", 5, "at two lines"),
    ]
    assert ("at two lines", UserWarning, 3) in names["__warningregistry__"]


def test_a_filter_of_the_script_sees_its_own_module(names):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", module="__main__")
        exec(compile(SCRIPT, "train.py", "exec"), names)
    assert seen == []
