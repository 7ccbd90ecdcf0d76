"""Whoever writes in a run, by whatever function: the real files are as they were, or it is refused with a reason."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import io
import os
import posix
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from os import chmod, mkdir, remove, rename, replace, symlink, truncate, utime
from os import link as hard_link
from os import open as os_open
from pathlib import Path

import numpy as np
import pytest

from gradtool.engine.files import native, relocations
from gradtool.engine.files.overlay import Overlay, activate, active, leave_overlay
from tests import processes

NAMES = ("real.txt", "other.txt", "data/keep.txt")


@pytest.fixture
def overlay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Overlay]:
    """An overlay over a folder with some files, which is as it was in the end: contents, modes and times."""
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    for name in NAMES:
        Path(name).write_text("mine")
    before = tree(tmp_path)
    overlay = Overlay()
    with activate(overlay):
        yield overlay
    assert tree(tmp_path) == before


def tree(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    told = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        told[str(path)] = (status.st_mode, status.st_mtime_ns, path.read_bytes() if path.is_file() else b"")
    return told


# -- functions that anybody may have from before the run --------------------------------------------------------------


def low_level() -> None:
    with io.FileIO("real.txt", "w") as file:
        file.write(b"new")


def opened_before() -> None:
    os.close(os_open("real.txt", os.O_WRONLY | os.O_TRUNC))


REFUSED: dict[str, Callable[[], object]] = {
    "FileIO": low_level,
    "os.open": opened_before,
    "rename": lambda: rename("real.txt", "new.txt"),
    "replace": lambda: replace("other.txt", "real.txt"),
    "remove": lambda: remove("real.txt"),
    "truncate": lambda: truncate("real.txt", 0),
    "chmod": lambda: chmod("real.txt", 0o600),
    "utime": lambda: utime("real.txt", (0, 0)),
    "mkdir": lambda: mkdir("new"),
    "symlink": lambda: symlink("real.txt", "latest"),
    "link": lambda: hard_link("real.txt", "twin.txt"),
    "posix": lambda: posix.rename("real.txt", "new.txt"),
    "posix.open": lambda: posix.open("new.txt", os.O_WRONLY | os.O_CREAT),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_led_elsewhere_is_refused(overlay: Overlay, what: str) -> None:
    with active(), pytest.raises(PermissionError, match="--write lets it write") as error:
        REFUSED[what]()
    assert error.value.filename
    assert overlay.changes() == ([], [])


@pytest.mark.parametrize("what", REFUSED)
def test_it_may_do_so_outside(overlay: Overlay, tmp_path: Path, what: str) -> None:
    """Neither what gradtool writes meanwhile is refused, nor what others write after the run."""
    kept = {name: Path(name).read_bytes() for name in NAMES}
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    shutil.copytree(tmp_path, elsewhere)
    with active(), leave_overlay():
        before = os.getcwd()
        os.chdir(elsewhere)
        try:
            REFUSED[what]()
        finally:
            os.chdir(before)
    assert {name: Path(name).read_bytes() for name in NAMES} == kept


def test_files_of_the_overlay_may_be_changed_by_their_own_names(overlay: Overlay) -> None:
    with active():
        Path("new.txt").write_text("new")
        with tempfile.NamedTemporaryFile() as file:
            chmod(file.name, 0o600)
        with open(os.devnull, "w") as nowhere:
            nowhere.write("gone")
        with io.FileIO("real.txt", "r") as read:
            assert read.read() == b"mine"
        remove(os.path.realpath(overlay.current("new.txt")))


# -- descriptors of folders, links, devices ---------------------------------------------------------------------------


def folder() -> int:
    return os.open(".", os.O_RDONLY)


def by_folder() -> None:
    at = folder()
    os.close(os.open("real.txt", os.O_WRONLY | os.O_TRUNC, dir_fd=at))
    os.rename("other.txt", "new.txt", src_dir_fd=at, dst_dir_fd=at)
    os.mkdir("made", dir_fd=at)
    os.remove("data/keep.txt", dir_fd=at)
    os.symlink("new.txt", "latest", dir_fd=at)
    os.chmod("real.txt", 0o600, dir_fd=at)
    os.utime("real.txt", (0, 0), dir_fd=at)
    os.close(at)


def by_descriptor() -> None:
    at = os.open("real.txt", os.O_RDONLY)
    os.fchmod(at, 0o600)
    os.chmod(at, 0o600)
    os.utime(at, (0, 0))
    os.close(at)


def through_own_link() -> None:
    os.symlink("data", "latest")
    Path("latest/keep.txt").write_text("new")
    Path("latest/more.txt").write_text("new")
    os.remove("latest/keep.txt")
    os.symlink(os.path.abspath("."), "here")
    Path("here/here/real.txt").write_text("new")
    os.rename("latest", "last")
    Path("last/more.txt").write_text("again")


def special() -> None:
    os.mkfifo("pipe")
    Path("real.txt").unlink()
    os.mkfifo("real.txt")


ODD = {
    "a folder's descriptor": by_folder,
    "a file's descriptor": by_descriptor,
    "a link of the run's": through_own_link,
    "pipes": special,
    "rmtree": lambda: shutil.rmtree("data"),
    "move": lambda: shutil.move("data", "elsewhere"),
    "copy": lambda: shutil.copy2("real.txt", "other.txt"),
    "unpack": lambda: shutil.unpack_archive(shutil.make_archive("data", "zip", "."), "."),
    "zip": lambda: zipfile.ZipFile("real.txt", "w").close(),
    "memmap": lambda: np.memmap("real.txt", mode="w+", shape=4).flush(),
    "in place": lambda: np.memmap("real.txt", mode="r+", shape=4).fill(0),
    "save": lambda: np.save("real.txt", np.zeros(3)),
    "tofile": lambda: np.zeros(3).tofile("real.txt"),
    "savez": lambda: np.savez("other.txt", np.zeros(3)),
}


@pytest.mark.parametrize("what", ODD)
def test_it_stays_in_the_overlay(overlay: Overlay, what: str) -> None:
    with active():
        ODD[what]()
    assert overlay.changes() != ([], [])


# -- libraries that open files by themselves --------------------------------------------------------------------------


def database(name: str) -> None:
    connection = sqlite3.connect(name)
    connection.execute("create table numbers(x)")
    connection.execute("insert into numbers values (7)")
    connection.commit()
    connection.close()


def with_sqlite() -> None:
    database("new.db")
    with sqlite3.connect("new.db") as connection:
        assert [*connection.execute("select x from numbers")] == [(7,)]
    connection.close()
    assert os.path.getsize("new.db") > 0
    os.remove("new.db")
    assert not os.path.exists("new.db")
    database("other.db")


def with_pyarrow() -> None:
    pyarrow, parquet, fs = (importlib.import_module(f"pyarrow{name}") for name in ("", ".parquet", ".fs"))
    table = pyarrow.table({"x": [1, 2]})
    parquet.write_table(table, "real.txt")
    assert parquet.read_table("real.txt") == table
    with pyarrow.OSFile("other.txt", "wb") as file:
        file.write(b"new")
    assert Path("other.txt").read_bytes() == b"new"
    with pyarrow.memory_map("data/keep.txt", "r+") as file:
        file.write(b"NEW!")
    local = fs.LocalFileSystem()
    local.move("other.txt", "moved.txt")
    local.create_dir("deep/er")
    local.delete_file("data/keep.txt")
    assert sorted(os.listdir(".")) == ["data", "deep", "moved.txt", "real.txt"]


def with_torch() -> None:
    torch = importlib.import_module("torch")
    layer = torch.nn.Linear(2, 2)
    torch.save(layer.state_dict(), "real.txt")
    assert torch.load("real.txt")["weight"].equal(layer.weight)
    torch.save({"x": torch.ones(2)}, "old.pt", _use_new_zipfile_serialization=False)
    torch.jit.save(torch.jit.script(layer), "other.txt")
    torch.jit.load("other.txt")
    torch.from_file("data/keep.txt", shared=True, size=1, dtype=torch.int32).fill_(0)
    assert Path("data/keep.txt").read_bytes() == bytes(4)
    torch.load("real.txt", mmap=True)


def with_safetensors() -> None:
    safetensors = importlib.import_module("safetensors.numpy")
    safetensors.save_file({"x": np.ones(2)}, "real.txt")
    assert safetensors.load_file("real.txt")["x"].sum() == 2


def with_h5py() -> None:
    h5py = importlib.import_module("h5py")
    with h5py.File("real.txt", "w") as file:
        file["x"] = np.ones(2)
    with h5py.File("real.txt", "r") as file:
        assert file["x"][0] == 1


NATIVE = {"sqlite3": with_sqlite, "pyarrow": with_pyarrow, "torch": with_torch}
NATIVE |= {"safetensors": with_safetensors, "h5py": with_h5py}


@pytest.mark.parametrize("library", [name for name in NATIVE if importlib.util.find_spec(name) is not None])
def test_libraries_are_led_to_the_overlay(overlay: Overlay, library: str) -> None:
    assert relocations.POSSIBLE
    with active(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        NATIVE[library]()
        assert native._Process.before
    assert not native._Process.before
    written, _ = overlay.changes()
    assert written
    assert all(os.path.basename(p) != "new.db" for p in written)


def test_every_entry_is_as_it_was(overlay: Overlay) -> None:
    every = relocations.entries(native._FUNCTIONS)
    before = relocations.read(every)
    for number in range(3):
        with active(), active():
            database(f"{number}.db")
            assert relocations.read(every) != before
        assert relocations.read(every) == before
    assert "open" in {*every.values()}


def test_libraries_are_listed_again_where_one_was_loaded_since() -> None:
    """A copy of a library is one that nobody has loaded."""
    once = relocations.entries(native._FUNCTIONS)
    file = next(name for (_, name), entries in relocations._known.items() if entries and os.path.isfile(name))
    assert relocations.entries(native._FUNCTIONS) is once
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(os.fsdecode(file), os.path.join(folder, "loaded_later.so"))
        library = ctypes.CDLL(copy)
    after = relocations.entries(native._FUNCTIONS)
    assert {*once} < {*after}
    assert library is not None


def test_a_database_that_is_read_was_not_written(overlay: Overlay, tmp_path: Path) -> None:
    with leave_overlay():
        elsewhere = tmp_path.parent / f"{tmp_path.name}.db"
        database(str(elsewhere))
    with active():
        connection = sqlite3.connect(elsewhere)
        assert [*connection.execute("select x from numbers")] == [(7,)]
        connection.close()
    assert overlay.changes() == ([], [])
    with active():
        connection = sqlite3.connect(elsewhere)
        connection.execute("insert into numbers values (8)")
        connection.commit()
        connection.close()
    assert overlay.changes() == ([str(elsewhere)], [])
    with leave_overlay():
        connection = sqlite3.connect(elsewhere)
        assert [*connection.execute("select x from numbers")] == [(7,)]
        connection.close()


@pytest.mark.parametrize("name", ["open", "fopen", "rename", "unlink", "truncate", "mkdir"])
def test_functions_of_the_c_library_are_refused(overlay: Overlay, name: str) -> None:
    library = ctypes.CDLL(None)
    with active(), pytest.raises(PermissionError, match="--write lets it write"):
        getattr(library, name)
    assert getattr(ctypes.CDLL(None), name)
    with active():
        assert ctypes.CDLL(None).getpid() == os.getpid()


C = r"""
#include <stdio.h>
#include <unistd.h>
#include <fcntl.h>
#include <sys/stat.h>
int change(void) {
    FILE *file = fopen("real.txt", "w");
    if (!file || fputs("new", file) < 0 || fclose(file)) return 1;
    int at = openat(AT_FDCWD, "new.txt", O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (at < 0 || write(at, "new", 3) != 3 || close(at)) return 2;
    if (openat(AT_FDCWD, "new.txt", O_WRONLY | O_CREAT | O_EXCL, 0644) >= 0) return 3;
    if (rename("new.txt", "other.txt") || mkdir("made", 0755) || !mkdir("made", 0755)) return 4;
    if (unlink("data/keep.txt") || rmdir("data") || !access("data", F_OK)) return 5;
    if (open("no/file", O_WRONLY | O_CREAT, 0644) >= 0 || remove("nothing") == 0) return 6;
    return chmod("real.txt", 0600) || truncate("other.txt", 1) || symlink("real.txt", "latest");
}
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> str | None:
    """A library that calls the C library; None where nothing compiles one."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "writer.c").write_text(C)
    library = folder / "writer.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, folder / "writer.c"], check=True)
    return str(library)


@pytest.mark.parametrize("when", ["before", "inside"])
def test_a_library_of_ones_own(overlay: Overlay, compiled: str | None, when: str) -> None:
    """Loaded before the run or in it."""
    if compiled is None:
        return
    library = ctypes.CDLL(compiled) if when == "before" else None
    with active():
        library = library or ctypes.CDLL(compiled)
        assert library.change() == 0
        assert Path("real.txt").read_text() == "new"
        assert Path("other.txt").read_text() == "n"
        assert sorted(os.listdir(".")) == ["latest", "made", "other.txt", "real.txt"]


SCRIPT = """
import sqlite3, paddle
connection = sqlite3.connect("runs.db")
connection.execute("create table if not exists t(x)")
connection.commit()
connection.close()
w = paddle.create_parameter([3], "float32")
loss = w.sum()
loss.backward()
"""


@pytest.mark.parametrize("words", [[], ["--write"]])
def test_a_command_says_what_a_library_wrote(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "m.py").write_text(SCRIPT)
    call = [sys.executable, "-m", "gradtool", "why", "m.py", *words]
    done = processes.run(call, cwd=tmp_path, check=True)
    assert ("m.py wrote runs.db: only this run saw that; --write" in done.stderr) == (not words)
    assert (tmp_path / "runs.db").exists() == bool(words)
