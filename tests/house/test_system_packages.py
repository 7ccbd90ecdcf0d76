"""``.ci/packages``: installs what is missing and nothing else, and says what to do where it cannot."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests import conftest, programs, sampling
from tests.programs import MISSING, PACKAGES, missing_packages, not_installed, system_program

SCRIPT = Path(__file__).parents[2] / ".ci" / "packages"
BY_HAND = (
    "install these packages by hand, by whatever names your system has for them: graphviz zsh fish nodejs chromium\n"
)


class Machine:
    """A PATH that has the shell, and what a test puts there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("bash", "env", "chmod"):
            path = shutil.which(name)
            assert path is not None
            (folder / name).symlink_to(path)

    def has(self, name: str, text: str = "") -> None:
        """A program that does what *text* says."""
        (self.folder / name).write_text(f"#!{self.folder}/bash\n{text}\n", encoding="utf-8")
        (self.folder / name).chmod(0o755)

    def run(self) -> subprocess.CompletedProcess[str]:
        path = {"PATH": str(self.folder)}
        return subprocess.run([SCRIPT], env=path, capture_output=True, text=True, stdin=subprocess.DEVNULL)


INSTALLS = """\
echo "$*" >> "$0.log"
[ "$1" = install ] || exit 0
for name in neato zsh fish node chromium; do echo > "${0%/*}/$name"; chmod 755 "${0%/*}/$name"; done
"""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """Root's, with an apt-get that works and notes how it was called."""
    computer = Machine(tmp_path)
    computer.has("id", "echo 0")
    computer.has("apt-get", INSTALLS)
    return computer


def calls(machine: Machine) -> list[str]:
    log = machine.folder / "apt-get.log"
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []


def test_where_all_is_there_nothing_happens(machine: Machine) -> None:
    for name in ("neato", "zsh", "fish", "node", "google-chrome"):
        machine.has(name)
    done = machine.run()
    assert (done.returncode, done.stdout) == (0, "nothing is missing\n")
    assert calls(machine) == []


def test_root_installs_what_is_missing(machine: Machine) -> None:
    machine.has("node")
    done = machine.run()
    assert (done.returncode, done.stderr) == (0, "")
    assert calls(machine) == ["update -qq", "install -qq -y --no-install-recommends graphviz zsh fish chromium"]


def test_anybody_else_goes_through_sudo(machine: Machine) -> None:
    """Which may not ask for a password where nobody can type one."""
    machine.has("id", "echo 1000")
    machine.has("sudo", 'test "$1" = -n || exit 1\nshift\nexec "$@"')
    assert machine.run().returncode == 0
    assert len(calls(machine)) == 2


@pytest.mark.parametrize(
    ("programs", "said"),
    [
        ({"apt-get": None}, "there is no apt-get here"),
        ({"id": "echo 1000"}, "apt-get needs root, and there is no sudo here"),
        ({"id": "echo 1000", "sudo": "exit 1"}, "apt-get failed"),
        ({"apt-get": "exit 100"}, "apt-get failed"),
        ({"apt-get": "exit 0"}, "apt-get succeeded, and what they bring is still not on the PATH"),
    ],
)
def test_where_that_cannot_be_it_says_what_to_install(
    machine: Machine, programs: dict[str, str | None], said: str
) -> None:
    for name, text in programs.items():
        if text is None:
            (machine.folder / name).unlink()
        else:
            machine.has(name, text)
    done = machine.run()
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"{said}: {BY_HAND}"


@pytest.mark.parametrize("name", PACKAGES)
def test_a_test_without_its_program_is_skipped_for_the_package(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(pytest.skip.Exception, match=f"^{MISSING}{PACKAGES[name]}$"):
        system_program(name)
    assert f'"{PACKAGES[name]}:' in SCRIPT.read_text(encoding="utf-8")


def test_the_end_of_a_run_counts_skips_by_package() -> None:
    reasons = [f"Skipped: {MISSING}{package}" for package in ("zsh", "chromium", "zsh")] + ["Skipped: of another kind"]
    assert missing_packages(reasons) == (
        "skipped for system packages that are not installed (.ci/packages installs them): 1 for chromium, 2 for zsh"
    )
    assert missing_packages(["Skipped: of another kind"]) == ""


def test_a_run_without_a_package_of_python_ends_with_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not_installed() == []
    there = programs._is_installed
    monkeypatch.setattr(programs, "_is_installed", lambda name: name not in ("zarr", "tap.py") and there(name))
    monkeypatch.setattr(sampling, "whole", sampling.whole)
    options: Any = SimpleNamespace(getoption=lambda name: False)
    with pytest.raises(pytest.UsageError, match=r"^not installed: tap\.py, zarr \(pip install -e "):
        conftest.pytest_configure(options)
