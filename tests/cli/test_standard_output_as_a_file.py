"""``-`` is standard output in every option that takes a file to write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gradtool.cli.configuration import options
from tests.cli.configuration.test_untrusted_folders import FOLDERS, WRITES, label, words
from tests.cli.conftest import Run

FILES = [pair for pair in WRITES if pair[1].key not in FOLDERS]
BINARY = "export"
"""Writes several files that belong together, and says what it wants in place of ``-``."""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("pair", FILES, ids=label)
def test_it_goes_to_standard_output(gradtool: Run, folder: Path, pair: tuple[str, options.OptionSetting]) -> None:
    command, setting = pair
    call = words(command, setting.key, folder)
    call = [word for i, word in enumerate(call) if "--md" not in call[max(i - 1, 0) : i + 1] or setting.key == "output"]
    before = {path.name for path in folder.iterdir()}
    said = "json=-" if setting.key == "out" else "-"
    done = gradtool(*call, f"--{setting.key}", said)
    assert not (folder / "-").exists()
    if command == BINARY:
        assert done.code == 2
        return
    assert done.code in (0, 1), done.err
    assert done.out
    new = {path.name for path in folder.iterdir()} - before
    assert new <= {"r.md", "out", ".gradtool_cache"}


def test_what_is_named_so_stands_alone(gradtool: Run, folder: Path) -> None:
    """So that another program can read it."""
    assert gradtool(*words("backward", "dot", folder), "--dot", "-").out.startswith("// forward and backward graph")
    assert gradtool(*words("report", "html", folder), "--html", "-").out.startswith("<!doctype html>")
    page = json.loads(gradtool("report", "m.py", "--ipynb", "-").out)
    assert page["nbformat"] == 4
    rows = gradtool(*words("sweep", "results", folder), "--results", "-").out.splitlines()
    assert [json.loads(row)["status"] for row in rows] == ["ok", "ok"]
    flame = gradtool("stats", "--time", "m.py", "--flame", "-").out
    assert all(line.rpartition(" ")[2].isdigit() for line in flame.splitlines())


def test_forms_of_findings_come_one_after_the_other(gradtool: Run, folder: Path) -> None:
    call = words("check", "out", folder)
    done = gradtool(*call, "--out", "github=-", "--format", "concise")
    assert "Found" in done.out or "No findings" in done.out
    assert gradtool(*call, "--out", "github=-", "--out", "json=-").code == 2
    assert gradtool(*call, "--out", "github=a", "--out", "json=a").code == 2


def test_nothing_goes_on_with_standard_output(gradtool: Run, folder: Path) -> None:
    done = gradtool(*words("sweep", "results", folder), "--results", "-", "--resume")
    assert done.code == 2
    assert "--resume goes on with a file of rows" in done.err
