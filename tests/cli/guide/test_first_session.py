"""What `pip install` brings, without the repository: a first session of somebody new, on a terminal of 80 columns.

The source distribution is built, the wheel from it, and the wheel is unpacked where nothing of the repository is seen.
``python -m tests.cli.guide.test_first_session`` writes the transcript anew.
"""

from __future__ import annotations

import fcntl
import os
import pty
import shlex
import struct
import subprocess
import sys
import tarfile
import tempfile
import termios
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[3]
TRANSCRIPT = ROOT / "tests" / "cli" / "golden" / "first_session.txt"
SESSION = """
gradtool
gradtool explain my gradient is none
gradtool self samples copy missing_gradient .
gradtool missing_gradient.py
gradtool why missing_gradient.py
gradtool why model.right.wieght missing_gradient.py
gradtool explain GT-E011
gradtool graph missing_gradient.py -o graph.html
"""
BUILD = "import sys; from setuptools import build_meta; print(getattr(build_meta, sys.argv[1])(sys.argv[2]))"
START = "import sys; from gradtool.cli.main import main; main(sys.argv[1:])"


def built(what: str, source: Path, folder: Path) -> Path:
    """A distribution of the project in *source*, in *folder*."""
    words = [sys.executable, "-W", "ignore", "-c", BUILD, f"build_{what}", str(folder)]
    done = subprocess.run(words, cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.splitlines()[-1]


def installed(folder: Path) -> Path:
    """Where the wheel of the source distribution of this tree is unpacked."""
    source, site = folder / "source", folder / "site"
    source.mkdir()
    for name in ("cli", "engine", "viz", "pyproject.toml", "README.md", "LICENSE"):
        (source / name).symlink_to(ROOT / name)
    with tarfile.open(built("sdist", source, folder)) as archive:
        archive.extractall(folder, filter="data")
        (unpacked,) = {folder / member.name.partition("/")[0] for member in archive.getmembers()}
    with zipfile.ZipFile(built("wheel", unpacked, folder)) as archive:
        archive.extractall(site)
    return site


def on_terminal(line: str, folder: Path, site: Path) -> str:
    """What a command line shows on a terminal of 24 lines of 80 columns."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GRADTOOL_", "COLUMNS", "LINES", "FORCE_COLOR"))}
    own = {"PYTHONPATH": str(site), "TERM": "dumb", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8", "PYTHONSAFEPATH": "1"}
    words = [sys.executable, "-c", START, *shlex.split(line)[1:]]
    with subprocess.Popen(words, cwd=folder, env=kept | own, stdin=follower, stdout=follower, stderr=follower):
        os.close(follower)
        shown = b""
        try:
            while part := os.read(leader, 65536):
                shown += part
        except OSError:
            pass  # Linux says so where others say nothing: the command has closed the terminal
    os.close(leader)
    return shown.decode("utf-8").replace("\r\n", "\n")


def transcript(folder: Path, site: Path) -> str:
    return "\n".join(f"$ {line}\n{on_terminal(line, folder, site)}" for line in SESSION.strip().splitlines())


def test_the_first_session(tmp_path: Path) -> None:
    site, folder = installed(tmp_path), tmp_path / "here"
    folder.mkdir()
    shown = transcript(folder, site)
    assert shown == TRANSCRIPT.read_text(encoding="utf-8")
    assert (folder / "graph.html").read_text(encoding="utf-8").lower().startswith("<!doctype html>")
    asked = "import gradtool, gradtool.cli.guide as guide; print(gradtool.__file__, guide.__file__)"
    words = [sys.executable, "-c", asked]
    environment = os.environ | {"PYTHONPATH": str(site)}
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    assert all(Path(file).is_relative_to(site) for file in done.stdout.split()), "it was the wheel that answered"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        here = Path(place, "here")
        here.mkdir()
        TRANSCRIPT.write_text(transcript(here, installed(Path(place))), encoding="utf-8")
