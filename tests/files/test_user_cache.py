"""What is kept for the next process: whole or not at all, not without end, and written by the user alone."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gradtool.engine.files import digest_files, file_trust, user_cache


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "gradtool"


@pytest.mark.parametrize("content", [b"", b"\n", b"two\nlines", bytes(range(256))])
def test_what_is_kept_comes_back(content: bytes, home: Path) -> None:
    user_cache.keep("names", "a", content)
    assert user_cache.read("names", "a") == content
    assert os.listdir(home / "names") == ["a"]


@pytest.mark.parametrize(
    "broken", [b"", b"content", digest_files.seal(b"content")[:-1], digest_files.seal(b"content") + b"s"]
)
def test_what_is_not_whole_is_none(broken: bytes, home: Path) -> None:
    user_cache.keep("names", "a", b"content")
    (home / "names" / "a").write_bytes(broken)
    (home / "names" / "a").chmod(0o600)
    assert user_cache.read("names", "a") is None
    assert user_cache.read("names", "b") is None


def test_the_folder_is_where_the_system_has_such_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert user_cache.folder("jax") == tmp_path / "gradtool" / "jax"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_cache.folder("jax") == tmp_path / ".cache" / "gradtool" / "jax"
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert user_cache.folder("jax") == tmp_path / "local" / "gradtool" / "jax"


def test_a_folder_is_bounded(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setattr(user_cache, "LIMIT", 4000)
    for i in range(12):
        user_cache.keep("names", f"k{i}", bytes(500))
        os.utime(home / "names" / f"k{i}", (i, i))
    left = {*os.listdir(home / "names")}
    assert "k11" in left
    assert "k0" not in left
    assert sum(p.stat().st_size for p in (home / "names").iterdir()) <= 4000
    assert user_cache.read("names", "k11") == bytes(500)


# -- whose files count ------------------------------------------------------------------------------------------------

CODE = b"compiled code"


@pytest.fixture
def kept(home: Path) -> Path:
    """A file that was kept, under the folder of numba."""
    user_cache.keep("numba", "a", CODE)
    assert user_cache.read("numba", "a") == CODE
    return home / "numba" / "a"


def belongs(monkeypatch: pytest.MonkeyPatch, path: Path, user: int) -> None:
    """Have a file belong to another user: really, where the test may do that."""
    if os.geteuid() == 0:
        os.lchown(path, user, user)
        return
    monkeypatch.setattr(file_trust.os, "geteuid", lambda: user + 1)


def open_to_all(path: Path) -> None:
    path.chmod(path.stat().st_mode | 0o002)


def open_to_a_group(path: Path) -> None:
    if os.geteuid() == 0:
        os.chown(path, 0, 4242)
    path.chmod(path.stat().st_mode | 0o022)


LEVELS = {
    "the file": lambda kept: kept,
    "the folder of the purpose": lambda kept: kept.parent,
    "the folder of gradtool": lambda kept: kept.parent.parent,
    "the folder of caches": lambda kept: kept.parent.parent.parent,
    "the secret": lambda kept: kept.parent.parent / user_cache.SECRET,
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("spoil", [open_to_all, open_to_a_group, belongs])
def test_what_others_can_write_is_none(
    kept: Path, level: str, spoil: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = LEVELS[level](kept)
    if spoil is belongs:
        belongs(monkeypatch, path, 4242)
    else:
        spoil(path)
    assert user_cache.read("numba", "a") is None
    if level not in ("the file", "the secret"):
        assert user_cache.make_folder("numba") is None
        before = kept.read_bytes()
        user_cache.keep("numba", "a", b"other")
        assert kept.read_bytes() == before


def test_a_folder_that_all_may_write_to_is_none_but_for_its_sticky_bit(kept: Path, home: Path) -> None:
    home.parent.chmod(0o1777)
    assert user_cache.read("numba", "a") == CODE
    home.parent.chmod(0o777)
    assert user_cache.read("numba", "a") is None


@pytest.mark.parametrize("level", list(LEVELS)[:3])
def test_a_link_is_none(kept: Path, level: str) -> None:
    path = LEVELS[level](kept)
    moved = path.with_name("moved")
    path.rename(moved)
    path.symlink_to(moved)
    assert user_cache.read("numba", "a") is None


def test_a_pipe_hangs_nobody(kept: Path, home: Path) -> None:
    kept.unlink()
    os.mkfifo(kept)
    os.mkfifo(home / "numba" / "b")
    assert user_cache.read("numba", "a") is None
    user_cache.keep("numba", "b", CODE)  # in its place
    assert user_cache.read("numba", "b") == CODE
    (home / user_cache.SECRET).unlink()
    os.mkfifo(home / user_cache.SECRET)
    assert user_cache.read("numba", "a") is None


def test_a_seal_needs_the_secret(kept: Path, home: Path) -> None:
    """The same content, sealed by whoever has no secret, or another one, or for another name, is none."""
    kept.write_bytes(digest_files.seal(CODE))
    assert user_cache.read("numba", "a") is None
    kept.write_bytes(digest_files.seal(CODE, b"guessed"))
    assert user_cache.read("numba", "a") is None
    user_cache.keep("numba", "a", CODE)
    (home / "numba" / "b").write_bytes(kept.read_bytes())
    (home / "numba" / "b").chmod(0o600)
    assert user_cache.read("numba", "b") is None
    secret = home / user_cache.SECRET
    assert (secret.stat().st_mode & 0o777, secret.stat().st_size) == (0o600, 32)
    secret.chmod(0o640)
    assert user_cache.read("numba", "a") is None
    secret.chmod(0o600)
    assert user_cache.read("numba", "a") == CODE
    secret.write_bytes(bytes(32))
    assert user_cache.read("numba", "a") is None


def test_many_processes_have_one_secret(home: Path) -> None:
    code = (
        "import sys; from gradtool.engine.files import user_cache as u; n = sys.argv[1]; u.keep('numba', n, n.encode())"
    )
    many = [subprocess.Popen([sys.executable, "-c", code, str(n)]) for n in range(4)]
    assert [process.wait() for process in many] == [0] * 4
    assert [user_cache.read("numba", str(n)) for n in range(4)] == [b"0", b"1", b"2", b"3"]
    assert sorted(os.listdir(home)) == ["numba", user_cache.SECRET]


@pytest.mark.parametrize(
    ("variables", "there"),
    [
        ({"XDG_CACHE_HOME": "cache"}, True),
        ({"XDG_CACHE_HOME": "~/cache"}, True),
        ({"HOME": "home"}, False),
        ({"HOME": ""}, False),
        ({"HOME": "."}, False),
        ({"XDG_CACHE_HOME": "cache", "HOME": "home"}, False),
    ],
)
def test_no_folder_comes_into_being_in_the_current_one(
    variables: dict[str, str], there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative path is none, and there is no cache without an absolute one."""
    (tmp_path / "home").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CACHE_HOME", "XDG_STATE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path / "here")
    user_cache.keep("numba", "a", CODE)
    assert user_cache.read("numba", "a") == (CODE if there else None)
    assert os.listdir() == []
    assert (user_cache.folder() is not None) == there
    assert user_cache.list_stored(["numba"]) == [] or there
    assert (user_cache.home("XDG_STATE_HOME", ".local/state") is not None) == there


def test_no_home_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a variable nor an entry for the user: ``~`` stays, and is no folder."""
    import pwd

    def nobody(number: int) -> object:
        raise KeyError(number)

    for name in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    planted = tmp_path / "~" / ".cache" / "gradtool" / "numba"
    planted.mkdir(parents=True)
    (planted / "a").write_bytes(digest_files.seal(CODE))
    monkeypatch.chdir(tmp_path)
    assert user_cache.folder("numba") is None
    assert user_cache.read("numba", "a") is None
    assert user_cache.make_folder("jax") is None


@pytest.mark.parametrize("spoil", ["link", "pipe", "foreign", "open", "deep"])
def test_a_folder_with_files_of_others_is_not_given_to_jax(
    home: Path, tmp_path: Path, spoil: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = user_cache.make_folder("jax")
    assert path is not None
    (path / "entry").write_bytes(b"")
    (path / "entry").chmod(0o600)
    assert user_cache.holds_users_files(path)
    if spoil == "link":
        (path / "code").symlink_to(path / "entry")
    elif spoil == "pipe":
        os.mkfifo(path / "code")
    elif spoil == "open":
        (path / "entry").chmod(0o666)
    elif spoil == "deep":
        (path / "inner").mkdir(mode=0o777)
        (path / "inner").chmod(0o777)
    else:
        belongs(monkeypatch, path / "entry", 4242)
    assert not user_cache.holds_users_files(path)
