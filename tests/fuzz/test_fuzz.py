"""A thousand changed files and strange names; ``python -m tests.fuzz`` runs more."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from tests.fuzz import foreign, hunting, mutations, output, reading

CASES = 1000
SEED = 11
SHARES = hunting.shares(CASES)


@pytest.fixture(autouse=True)
def limits() -> Iterator[None]:
    with hunting.bounded():
        yield


@pytest.mark.sampled(5)
@pytest.mark.parametrize("kind", hunting.KINDS)
def test_nothing_but_the_one_error(kind: str) -> None:
    """No other exception, no exit code 70, no hang, memory within its bound, and outputs that are well-formed."""
    failures = [f for n in range(SHARES[kind]) if (f := hunting.run(kind, n, SEED)) is not None]
    assert not failures, "\n".join(map(str, failures[:10]))


@pytest.mark.sampled(5)
@pytest.mark.parametrize("kind", reading.READERS)
def test_sound_files_are_read_and_most_changed_ones_refused(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cases are worth something: without a change nothing is refused, with one most are."""

    def refused(number: int) -> bool:
        case = reading.READERS[kind](Random(number))
        try:
            case.read(case.data)
        except reading.REFUSED:
            return True
        return False

    if kind != "container":  # one of its readers always refuses what is for the other
        assert sum(map(refused, range(40))) > 10
    for module in (reading, mutations):
        monkeypatch.setattr(module, "changed_bytes", lambda data, others, draw: data)
        monkeypatch.setattr(module, "changed_value", lambda value, draw: value)
    monkeypatch.setattr(foreign, "_change", lambda message, draw: None)
    if kind != "feed":  # the archive of all arrays is not for these variables
        assert not any(map(refused, range(20)))


def test_a_failure_says_how_to_run_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(draw: Random) -> None:
        raise ZeroDivisionError(str(draw.random()))

    monkeypatch.setitem(hunting.KINDS, "wrong", (wrong, 1))
    failure = hunting.run("wrong", 5, 7)
    assert failure is not None
    assert str(failure).startswith("python -m tests.fuzz --case 'wrong' 5 7\n    ZeroDivisionError: ")
    assert failure == hunting.run("wrong", 5, 7) != hunting.run("wrong", 6, 7)


def test_a_case_that_hangs_or_needs_too_much_memory_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def hangs(draw: Random) -> None:
        while True:
            pass

    monkeypatch.setattr(hunting, "SECONDS", 0.05)
    monkeypatch.setitem(hunting.KINDS, "hangs", (hangs, 1))
    monkeypatch.setitem(hunting.KINDS, "large", (lambda draw: print(len(bytes(2 * hunting.MEMORY))), 1))
    assert "Hang: " in str(hunting.run("hangs", 0, 0))
    assert "MemoryError" in str(hunting.run("large", 0, 0))


@pytest.mark.parametrize(
    ("check", "sound", "broken"),
    [
        (output._json, '{"a": 1}', '{"a": NaN}'),
        (output._tsv, "a\tb\nc\td\n", "a\tb\nc\n"),
        (output._terminal, "a\n", "a\x1b[2J"),
        (output._markdown, "| a | b |\n|--|--|\n| c\\| | d |\n", "| a | b |\n|--|--|\n| c| | d |\n"),
        (output._markdown, "a `<b>` \\<b>", "a <script>"),
        (output._svg, "<svg><g/></svg>", "<svg><script/></svg>"),
        (output._svg, "<svg/>", '<svg onload="x"/>'),
        (output._html, "<p>a<br></p>", "<p><img src=x></p>"),
        (output._html, "<p>a</p>", "<div><p>a</div></p>"),
        (output._dot, 'digraph G {\n\ta [label="\\"x\\""]\n\ta -> b\n}', 'digraph G {\n\ta [label="x"y"]\n}'),
        (output._mermaid, 'a["x"]', 'a["x"y"]'),
    ],
)
def test_checks_of_forms_can_fail(check: output.Check, sound: str, broken: str) -> None:
    check(sound)
    with pytest.raises((output.Malformed, ValueError, SyntaxError)):
        check(broken)


def test_changes_change_something() -> None:
    data = [b'{"name": "x", "shape": [2, 3]}\n', b"y = 1\n"]
    changed = [mutations.changed_bytes(data[0], data, Random(n)) for n in range(100)]
    assert len(set(changed)) > 60
    assert changed == [mutations.changed_bytes(data[0], data, Random(n)) for n in range(100)]
