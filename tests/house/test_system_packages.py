"""``.ci/packages``: installs what is missing and nothing else, and says what to do where it cannot."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.programs import PACKAGES, system_program

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
def test_a_test_that_lacks_a_program_says_which_package_brings_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(pytest.fail.Exception, match=f"install the system package '{PACKAGES[name]}'"):
        system_program(name)
    assert f'"{PACKAGES[name]}:' in SCRIPT.read_text(encoding="utf-8")
