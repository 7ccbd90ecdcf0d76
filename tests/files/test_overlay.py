"""What a run writes, makes, renames and removes: it finds it itself, and the real folder is as it was."""

from __future__ import annotations

import glob
import json
import os
import pickle
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from gradtool.engine.files.overlay import Overlay, activate, active, leave_overlay


@pytest.fixture
def overlay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Overlay]:
    """An overlay over a folder with ``real.txt`` and ``data/keep.txt``, which is as it was in the end."""
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    Path("data/keep.txt").write_text("kept")
    Path("real.txt").write_text("real")
    before = tree(tmp_path)
    overlay = Overlay()
    with activate(overlay):
        yield overlay
    assert tree(tmp_path) == before


def tree(folder: Path) -> dict[str, str | None]:
    return {str(p.relative_to(folder)): p.read_text() if p.is_file() else None for p in sorted(folder.rglob("*"))}


def write(path: str, text: str = "new") -> None:
    Path(path).write_text(text)


def opened(path: str, mode: str, text: str = "") -> None:
    with open(path, mode) as file:
        file.write(text)


def dumped() -> None:
    with open("a.json", "w") as file:
        json.dump([1], file)


def moved_file() -> None:
    os.rename("real.txt", "other.txt")


def moved_folder() -> None:
    os.replace("data", "elsewhere")


def atomically() -> None:
    with tempfile.NamedTemporaryFile("w", dir=".", delete=False) as file:
        file.write("new")
    os.replace(file.name, "best.txt")


def through_descriptor() -> None:
    descriptor = os.open("log.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(descriptor, b"new")
    os.close(descriptor)


def linked() -> None:
    os.symlink("real.txt", "latest")
    os.link("real.txt", "twin.txt")


def overwritten_link() -> None:
    linked()
    os.remove("latest")
    os.symlink("data/keep.txt", "latest")


def away() -> None:
    os.makedirs("runs/1")
    os.chdir("runs/1")
    write("log.txt")
    write("../up.txt", Path("../../real.txt").read_text())
    assert os.getcwd() == os.path.abspath(".")
    assert sorted(os.listdir("..")) == ["1", "up.txt"]


CHANGES: dict[str, tuple[Callable[[], object], dict[str, str | None], list[str], list[str]]] = {
    # what is done, what is read afterwards, what is told as written, as removed
    "a new file": (lambda: write("best.txt"), {"best.txt": "new"}, ["best.txt"], []),
    "a file that was there": (lambda: write("real.txt"), {"real.txt": "new"}, ["real.txt"], []),
    "appending": (lambda: opened("real.txt", "a", "+"), {"real.txt": "real+"}, ["real.txt"], []),
    "in place": (lambda: opened("real.txt", "r+", "R"), {"real.txt": "Real"}, ["real.txt"], []),
    "a new one alone": (lambda: opened("a.txt", "x", "a"), {"a.txt": "a"}, ["a.txt"], []),
    "folders": (lambda: os.makedirs("a/b/c", exist_ok=True), {"a/b/c": None, "a": None}, ["a/b/c/"], []),
    "in folders": (lambda: (os.makedirs("a/b"), write("a/b/f")), {"a/b/f": "new"}, ["a/b/f"], []),
    "removing": (lambda: os.remove("real.txt"), {}, [], ["real.txt"]),
    "removing what was written": (lambda: (write("a"), Path("a").unlink()), {"real.txt": "real"}, [], []),
    "removing a folder": (lambda: shutil.rmtree("data"), {}, [], ["data"]),
    "making it anew": (
        lambda: (shutil.rmtree("data"), os.makedirs("data"), write("data/f")),
        {"data/f": "new"},
        ["data/f"],
        ["data/keep.txt"],
    ),
    "renaming": (moved_file, {"other.txt": "real"}, ["other.txt"], ["real.txt"]),
    "renaming a folder": (moved_folder, {"elsewhere/keep.txt": "kept"}, ["elsewhere/keep.txt"], ["data"]),
    "moving": (
        lambda: shutil.move("real.txt", "data"),
        {"data/real.txt": "real", "data/keep.txt": "kept"},
        ["data/real.txt"],
        ["real.txt"],
    ),
    "copying": (lambda: shutil.copytree("data", "copy"), {"copy/keep.txt": "kept"}, ["copy/keep.txt"], []),
    "by a temporary name": (atomically, {"best.txt": "new"}, ["best.txt"], []),
    "by descriptor": (through_descriptor, {"log.txt": "new"}, ["log.txt"], []),
    "links": (linked, {"latest": "real", "twin.txt": "real"}, ["latest", "twin.txt"], []),
    "a link elsewhere": (overwritten_link, {"latest": "kept"}, ["latest", "twin.txt"], []),
    "permissions": (lambda: os.chmod("real.txt", 0o600), {"real.txt": "real"}, ["real.txt"], []),
    "a new current folder": (away, {"log.txt": "new", "../up.txt": "real"}, ["runs/1/log.txt", "runs/up.txt"], []),
    "json": (dumped, {"a.json": "[1]"}, ["a.json"], []),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_run_finds_what_it_did(overlay: Overlay, tmp_path: Path, change: str) -> None:
    act, expected, written, removed = CHANGES[change]
    with active():
        act()
        for path, text in expected.items():
            assert os.path.exists(path)
            assert (Path(path).read_text() if text is not None else None) == text
            assert Path(path).name in os.listdir(os.path.dirname(path) or ".")
            assert path in glob.glob("**", root_dir=".", recursive=True) or path.startswith("..")
    assert overlay.changes() == ([f"{tmp_path}/{p}" for p in written], [f"{tmp_path}/{p}" for p in removed])


def test_what_was_removed_is_not_there(overlay: Overlay) -> None:
    with active():
        os.remove("real.txt")
        shutil.rmtree("data")
        assert os.listdir(".") == []
        assert not os.path.lexists("data/keep.txt")
        for reading in (open, os.stat, os.remove, os.listdir, os.rmdir):
            with pytest.raises(FileNotFoundError) as error:
                reading("real.txt")  # type: ignore[operator]
            assert error.value.filename == "real.txt"
        with pytest.raises(FileNotFoundError):
            write("data/new.txt")


def test_errors_are_those_of_the_real_folder(overlay: Overlay) -> None:
    with active():
        write("new.txt")
        os.mkdir("runs")
        refused: list[tuple[type[OSError], Callable[[], object]]] = [
            (FileExistsError, lambda: os.mkdir("runs")),
            (FileExistsError, lambda: os.makedirs("data")),
            (FileExistsError, lambda: opened("real.txt", "x")),
            (FileNotFoundError, lambda: opened("no/such.txt", "w")),
            (FileNotFoundError, lambda: opened("no.txt", "r+")),
            (FileNotFoundError, lambda: os.replace("no.txt", "a.txt")),
            (NotADirectoryError, lambda: os.rmdir("new.txt")),
            (NotADirectoryError, lambda: os.listdir("new.txt")),
            (IsADirectoryError, lambda: os.remove("runs")),
            (IsADirectoryError, lambda: opened("data", "w")),
            (IsADirectoryError, lambda: os.replace("new.txt", "data")),
            (OSError, lambda: os.rmdir("data")),
        ]
        for kind, act in refused:
            with pytest.raises(kind):
                act()


def test_numpy_and_pickles_go_through_it(overlay: Overlay) -> None:
    with active():
        np.savez("a.npz", a=np.ones(3))
        np.save("a.npy", np.ones(2))
        np.ones(4).tofile("a.bin")
        np.savetxt("a.txt", np.ones((3, 2)))
        np.savetxt("a.txt.gz", np.ones((3, 2)))
        assert np.loadtxt("a.txt").shape == np.loadtxt("a.txt.gz").shape == (3, 2)
        with open("a.pkl", "wb") as file:
            pickle.dump({"a": 1}, file)
        with np.load("a.npz") as arrays:
            assert arrays["a"].shape == (3,)
        assert np.load("a.npy").shape == (2,)
        assert np.fromfile("a.bin").shape == (4,)
        with open("a.pkl", "rb") as file:
            assert pickle.load(file) == {"a": 1}
            assert file.name == "a.pkl"


def test_walking_sees_both(overlay: Overlay, tmp_path: Path) -> None:
    with active():
        os.makedirs("data/sub")
        write("data/sub/new.txt")
        walked = [(root, sorted(folders), sorted(files)) for root, folders, files in os.walk(".")]
        assert walked == [
            (".", ["data"], ["real.txt"]),
            ("./data", ["sub"], ["keep.txt"]),
            ("./data/sub", [], ["new.txt"]),
        ]
        assert sorted(Path().rglob("*.txt")) == [Path("data/keep.txt"), Path("data/sub/new.txt"), Path("real.txt")]
        with os.scandir("data") as entries:
            kinds = {e.name: (e.is_dir(), e.is_file(), e.is_symlink(), e.stat().st_size > 0) for e in entries}
        assert kinds["keep.txt"] == (False, True, False, True)
        assert kinds["sub"][:3] == (True, False, False)


def test_temporary_files_and_caches_are_left_alone(overlay: Overlay, tmp_path: Path) -> None:
    with active():
        with tempfile.TemporaryDirectory() as folder:
            write(f"{folder}/a.txt")
            with leave_overlay():
                assert Path(folder, "a.txt").read_text() == "new"
        assert not os.path.exists(folder)
        with tempfile.TemporaryFile() as file:
            file.write(b"a")
        with open(os.devnull, "w") as nowhere:
            nowhere.write("a")
        os.mkdir("__pycache__")
        os.mkdir("torchinductor_ann")  # PyTorch makes it when its compiler is imported
    assert overlay.changes() == ([], [])
    os.rmdir("__pycache__")
    os.rmdir("torchinductor_ann")


def test_outside_files_are_written(overlay: Overlay) -> None:
    with active():
        write("inside.txt")
        with leave_overlay():
            assert not os.path.exists("inside.txt")
            write("result.txt", "told")
        assert Path("result.txt").read_text() == "told"
    assert Path("result.txt").read_text() == "told"
    os.remove("result.txt")


def test_nothing_is_left_in_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    functions = {name: getattr(os, name) for name in dir(os)}
    overlay = Overlay()
    with activate(overlay):
        with active():
            write("a.txt")
            place = os.path.dirname(overlay.current("a.txt"))
            kept = open
            os.mkdir("away")
            os.chdir("away")
        assert os.path.isdir(place)
    assert not os.path.exists(place)
    assert os.getcwd() == str(tmp_path)
    assert {name: getattr(os, name) for name in dir(os)} == functions
    with kept("a.txt", "w") as file:  # a library may have taken the function; it is Python's again
        file.write("real")
    assert Path("a.txt").read_text() == "real"


def test_other_threads_of_the_process_go_past_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    begin, written = threading.Event(), threading.Event()

    def before() -> None:
        begin.wait(60)
        write("theirs.txt")
        written.set()

    host = threading.Thread(target=before)
    host.start()
    with activate(Overlay()), active():
        begin.set()
        assert written.wait(60)
        mine = threading.Thread(target=write, args=("mine.txt",))
        mine.start()
        mine.join()
        assert sorted(os.listdir()) == ["mine.txt", "theirs.txt"]
    host.join()
    assert os.listdir() == ["theirs.txt"]


def test_two_overlays_are_apart(overlay: Overlay) -> None:
    with active():
        write("a.txt", "outer")
    inner = Overlay()
    with activate(inner), active():
        assert not os.path.exists("a.txt")
        write("a.txt", "inner")
    with active():
        assert Path("a.txt").read_text() == "outer"
