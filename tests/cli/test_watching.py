"""``check --watch``: what starts another check, and how it ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from gradtool.cli import file_watch
from tests.cli.conftest import Run


def test_every_change_is_followed_by_a_check(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    calls: list[Sequence[str]] = []
    (folder / "a.py").write_text("1")
    (folder / ".hidden").mkdir()
    changes: list[Callable[[], object]] = [
        lambda: (folder / "a.py").write_text("22"),
        lambda: (folder / "made.json").write_text("{}"),
        lambda: (folder / "notes.md").write_text("not looked at"),
        lambda: (folder / ".hidden" / "b.py").write_text("1"),
        lambda: (folder / "gradtool.toml").write_text("seed = 1"),
        lambda: (folder / "net.ONNX").write_bytes(b"1"),
        lambda: [(folder / "a.py").unlink(), (folder / "c.py").write_text("1")],
    ]

    def wait(seconds: float) -> None:
        if not changes:
            raise KeyboardInterrupt
        changes.pop(0)()

    def check(words: Sequence[str]) -> int:
        calls.append(words)
        return len(calls)

    assert file_watch.check_again(["check"], ["."], ["made.json"], check, wait) == 5
    assert calls == [["check"]] * 5
    assert [line for line in capsys.readouterr().err.splitlines() if line] == [
        "a.py changed: checking again",
        "gradtool.toml changed: checking again",
        "net.ONNX changed: checking again",
        "a.py and 1 more changed: checking again",
    ]


def test_a_change_during_a_check_is_not_missed(folder: Path) -> None:
    (folder / "a.py").write_text("1")
    calls: list[Sequence[str]] = []

    def check(words: Sequence[str]) -> int:
        calls.append(words)
        if len(calls) == 1:
            (folder / "a.py").write_text("22")
        return 0

    def wait(seconds: float) -> None:
        if len(calls) == 2:
            raise KeyboardInterrupt

    file_watch.check_again([], ["."], ["made.json"], check, wait)
    assert len(calls) == 2


def test_the_command_line_is_carried_out_again_without_the_option(
    gradtool: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[object, ...]] = []
    monkeypatch.setattr(file_watch, "check_again", lambda *arguments: told.append(arguments) or 1)
    (folder / "m.py").write_text("")
    words = ("--out", "json=made.json", "-o", "b.txt")
    assert gradtool("check", "--watch", "m.py:f", *words, "--", "--watch").code == 1
    assert told == [(["check", "m.py:f", *words, "--", "--watch"], [".", "m.py"], ["b.txt", "made.json"])]
    assert "standard input can be read once" in gradtool("check", "-", "--watch").err
    assert "--write changes files" in gradtool("check", "m.py", "--write", "--watch").err
