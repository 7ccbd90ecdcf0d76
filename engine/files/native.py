"""Libraries that open files by themselves: what they write in a run goes where the overlay says.

SQLite, HDF5, Arrow, PyTorch and whatever else is compiled call the C library's ``open`` and ``fopen``, not Python's.
Each such library has a table with the addresses of the functions that it calls (:mod:`.relocations`). Inside
:func:`redirect` the entries of functions that take paths hold addresses of ours, which have an overlay say which
path is meant, and call the C library's. Python itself, the C library and the loader keep theirs. A library that is
loaded in between is looked through when it is there; at the end every entry is as it was.

That is for Linux with glibc, on x86-64 and AArch64. Elsewhere, libraries write past the overlay.
"""

from __future__ import annotations

import _thread
import ctypes
import errno
import functools
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Protocol

from . import relocations

_CWD: Final = -100
"""``AT_FDCWD``: a path is relative to the current folder."""

_INT, _TEXT, _POINTER, _LONG, _SIZE = ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_long, ctypes.c_size_t

WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
"""Flags of which one says that a file is opened to be changed."""


class Files(Protocol):
    """Source of the places of files, such as the overlay; paths are absolute or relative to the current folder."""

    def is_meant(self) -> bool:
        """Return whether this thread is one of the run's."""
        ...

    def current(self, path: str) -> str: ...

    def writable_path(self, path: str, keep: bool = True, new: bool = False, unsure: bool = False) -> str: ...

    def remove(self, path: str) -> None: ...

    def rmdir(self, path: str) -> None: ...

    def replace(self, old: str, new: str) -> None: ...

    def link(self, old: str, new: str) -> None: ...

    def symlink(self, text: str, new: str) -> None: ...


Act = Callable[[Files, Callable[..., Any], list[Any], tuple[int, ...]], Any]
"""What a function does instead: given where files lie, the C library's function, its arguments, and which of them are
paths."""


def _read(files: Files, real: Callable[..., Any], words: list[Any], paths: tuple[int, ...]) -> Any:
    return real(*_replace_argument(words, paths[0], files.current))


def _change(files: Files, real: Callable[..., Any], words: list[Any], paths: tuple[int, ...]) -> Any:
    return real(*_replace_argument(words, paths[0], files.writable_path))


def _make(files: Files, real: Callable[..., Any], words: list[Any], paths: tuple[int, ...]) -> Any:
    return real(*_replace_argument(words, paths[0], lambda path: files.writable_path(path, new=True)))


def _empty(files: Files, real: Callable[..., Any], words: list[Any], paths: tuple[int, ...]) -> Any:
    return real(*_replace_argument(words, paths[0], lambda path: files.writable_path(path, keep=False)))


def _open_by_flags(files: Files, real: Callable[..., Any], words: list[Any], paths: tuple[int, ...]) -> Any:
    flags = words[paths[0] + 1]
    if not flags & WRITING or flags & os.O_DIRECTORY:
        return _read(files, real, words, paths)
    new = bool(flags & os.O_EXCL and flags & os.O_CREAT)
    if not flags & os.O_CREAT and not os.path.lexists(files.current(os.fsdecode(words[paths[0]]))):
        return _read(files, real, words, paths)  # there is nothing to change
    keep = not flags & os.O_TRUNC or not flags & os.O_CREAT
    unsure = not flags & os.O_TRUNC  # SQLite opens a file for writing that it only reads
    return real(
        *_replace_argument(words, paths[0], lambda path: files.writable_path(path, keep=keep, new=new, unsure=unsure))
    )


def _open_by_mode(files: Files, real: Callable[..., Any], words: list[Any], paths: tuple[int, ...]) -> Any:
    mode = words[paths[0] + 1] or b""
    if words[paths[0]] is None or not any(sign in mode for sign in b"wa+"):
        return _read(files, real, words, paths)
    new, keep = b"x" in mode, b"w" not in mode
    return real(*_replace_argument(words, paths[0], lambda path: files.writable_path(path, keep=keep, new=new)))


def _remove(files: Files, real: Callable[..., Any], words: list[Any], paths: tuple[int, ...]) -> int:
    path = os.fsdecode(words[paths[0]])
    if os.path.isdir(files.current(path)) and not os.path.islink(files.current(path)):
        files.rmdir(path)
    else:
        files.remove(path)
    return 0


def _rename(files: Files, real: Callable[..., Any], words: list[Any], paths: tuple[int, ...]) -> int:
    files.replace(*(os.fsdecode(words[at]) for at in paths))
    return 0


def _link(files: Files, real: Callable[..., Any], words: list[Any], paths: tuple[int, ...]) -> int:
    files.link(*(os.fsdecode(words[at]) for at in paths))
    return 0


def _symlink(files: Files, real: Callable[..., Any], words: list[Any], paths: tuple[int, ...]) -> int:
    files.symlink(os.fsdecode(words[0]), os.fsdecode(words[paths[-1]]))
    return 0


def _replace_argument(words: list[Any], at: int, place: Callable[[str], str]) -> list[Any]:
    """The arguments with another path."""
    if words[at]:
        words[at] = os.fsencode(place(os.fsdecode(words[at])))
    return words


_FUNCTIONS: Final[dict[str, tuple[Any, tuple[Any, ...], tuple[int, ...], Act]]] = {
    **dict.fromkeys(("open", "open64"), (_INT, (_TEXT, _INT, _INT), (0,), _open_by_flags)),
    **dict.fromkeys(("__open_2", "__open64_2"), (_INT, (_TEXT, _INT), (0,), _open_by_flags)),
    **dict.fromkeys(("openat", "openat64"), (_INT, (_INT, _TEXT, _INT, _INT), (1,), _open_by_flags)),
    **dict.fromkeys(("__openat_2", "__openat64_2"), (_INT, (_INT, _TEXT, _INT), (1,), _open_by_flags)),
    **dict.fromkeys(("creat", "creat64"), (_INT, (_TEXT, _INT), (0,), _empty)),
    **dict.fromkeys(("fopen", "fopen64"), (_POINTER, (_TEXT, _TEXT), (0,), _open_by_mode)),
    **dict.fromkeys(("freopen", "freopen64"), (_POINTER, (_TEXT, _TEXT, _POINTER), (0,), _open_by_mode)),
    **dict.fromkeys(("truncate", "truncate64"), (_INT, (_TEXT, _LONG), (0,), _change)),
    "chmod": (_INT, (_TEXT, _INT), (0,), _change),
    "fchmodat": (_INT, (_INT, _TEXT, _INT, _INT), (1,), _change),
    **dict.fromkeys(("chown", "lchown"), (_INT, (_TEXT, _INT, _INT), (0,), _change)),
    **dict.fromkeys(("utime", "utimes"), (_INT, (_TEXT, _POINTER), (0,), _change)),
    "utimensat": (_INT, (_INT, _TEXT, _POINTER, _INT), (1,), _change),
    **dict.fromkeys(("mkdir", "mkfifo"), (_INT, (_TEXT, _INT), (0,), _make)),
    "mkdirat": (_INT, (_INT, _TEXT, _INT), (1,), _make),
    **dict.fromkeys(("unlink", "remove", "rmdir"), (_INT, (_TEXT,), (0,), _remove)),
    "unlinkat": (_INT, (_INT, _TEXT, _INT), (1,), _remove),
    "rename": (_INT, (_TEXT, _TEXT), (0, 1), _rename),
    "renameat": (_INT, (_INT, _TEXT, _INT, _TEXT), (1, 3), _rename),
    "renameat2": (_INT, (_INT, _TEXT, _INT, _TEXT, ctypes.c_uint), (1, 3), _rename),
    "link": (_INT, (_TEXT, _TEXT), (0, 1), _link),
    "linkat": (_INT, (_INT, _TEXT, _INT, _TEXT, _INT), (1, 3), _link),
    "symlink": (_INT, (_TEXT, _TEXT), (1,), _symlink),
    "symlinkat": (_INT, (_TEXT, _INT, _TEXT), (2,), _symlink),
    **dict.fromkeys(("stat", "stat64", "lstat", "lstat64"), (_INT, (_TEXT, _POINTER), (0,), _read)),
    **dict.fromkeys(("__xstat", "__xstat64"), (_INT, (_INT, _TEXT, _POINTER), (1,), _read)),
    **dict.fromkeys(("__lxstat", "__lxstat64"), (_INT, (_INT, _TEXT, _POINTER), (1,), _read)),
    **dict.fromkeys(("fstatat", "fstatat64"), (_INT, (_INT, _TEXT, _POINTER, _INT), (1,), _read)),
    "statx": (_INT, (_INT, _TEXT, _INT, ctypes.c_uint, _POINTER), (1,), _read),
    "access": (_INT, (_TEXT, _INT), (0,), _read),
    "faccessat": (_INT, (_INT, _TEXT, _INT, _INT), (1,), _read),
    "readlink": (_LONG, (_TEXT, _POINTER, _SIZE), (0,), _read),
    "opendir": (_POINTER, (_TEXT,), (0,), _read),
}
"""Functions of the C library that take paths: result, arguments, which of these are paths, and what is done instead."""

_OF_FOLDERS: Final = re.compile("(open|mkdir|unlink|rename|link|fchmod|faccess|fstat|utimens)at|^statx")
"""In the names of functions in which a folder's descriptor stands before each path."""

WRITERS: Final = frozenset(name for name, (*_, act) in _FUNCTIONS.items() if act is not _read)
"""Those that can change a file."""


def is_c_librarys(library: Any, name: str) -> bool:
    """Return whether a library that ``ctypes`` has loaded gives the C library's function of that name."""
    if not relocations.POSSIBLE:
        return True
    _, *_, find = _finder()
    of_all: int | None = find(None, name.encode())
    return of_all is not None and find(library._handle, name.encode()) == of_all


@functools.cache
def _finder() -> tuple[Any, ...]:
    """The loader's function that finds others, and what keeps it."""
    loader = ctypes.CDLL(None)
    find = loader.dlsym
    find.argtypes, find.restype = (_POINTER, _TEXT), _POINTER
    return loader, find


class _Process:
    """State of the whole process."""

    files: Files | None = None
    depth = 0
    busy = False
    callbacks: dict[str, Any] = {}  # noqa: RUF012  (one for the process; addresses of them may be called at any time)
    before: dict[int, int] = {}  # noqa: RUF012
    """By entry, what stood there."""


@contextmanager
def redirect(files: Files | None) -> Iterator[None]:
    """Inside, functions of libraries that take paths mean what *files* says; with None, they mean the paths."""
    if not relocations.POSSIBLE or (files is None and not _Process.depth):
        yield
        return
    outer, _Process.files = _Process.files, files
    _Process.depth += 1
    try:
        look_through()
        yield
    finally:
        _Process.depth -= 1
        _Process.files = outer
        if not _Process.depth:
            with _busy():
                relocations.write(_Process.before)
            _Process.before = {}


def look_through() -> None:
    """Redirect the calls of libraries that were loaded since this was asked last."""
    if not _Process.depth or _Process.busy:
        return
    with _busy():
        new = {at: name for at, name in relocations.entries(_FUNCTIONS).items() if at not in _Process.before}
        if new:
            _Process.before |= relocations.read(new)
            relocations.write({at: _address(name) for at, name in new.items()})


@contextmanager
def _busy() -> Iterator[None]:
    _Process.busy = True
    try:
        yield
    finally:
        _Process.busy = False


def is_busy() -> bool:
    """Return whether libraries are being looked through: what is done then is nobody's of the run."""
    return _Process.busy


@functools.cache
def _address(name: str) -> int:
    """The address of what stands in the place of a function."""
    if name not in _Process.callbacks:
        result, arguments, paths, act = _FUNCTIONS[name]
        form = ctypes.CFUNCTYPE(result, *arguments, use_errno=True)
        real = form((name, relocations.c_library()))
        _Process.callbacks[name] = form(
            _redirect_function(real, paths, act, 0 if result is _POINTER else -1, _OF_FOLDERS.search(name) is not None)
        )
    address: int = ctypes.cast(_Process.callbacks[name], _POINTER).value or 0
    return address


def _redirect_function(
    real: Any, paths: tuple[int, ...], act: Act, failed: int, has_folders: bool
) -> Callable[..., Any]:
    def call(*words: Any) -> Any:
        files = _Process.files
        try:
            if files is None or not files.is_meant():
                return real(*words)
            return act(files, real, _join_folders([*words], paths) if has_folders else [*words], paths)
        except OSError as error:
            ctypes.set_errno(error.errno or errno.EACCES)
        except KeyboardInterrupt:
            _thread.interrupt_main()  # here nobody could catch it; it comes again once the library has returned
            ctypes.set_errno(errno.EINTR)
        except Exception:
            ctypes.set_errno(errno.EACCES)
        return failed

    return call


def _join_folders(words: list[Any], paths: tuple[int, ...]) -> list[Any]:
    """The arguments with whole paths in place of those that are relative to a folder's descriptor."""
    for at in paths:
        if words[at] and not os.path.isabs(words[at]) and words[at - 1] != _CWD:
            words[at] = os.path.join(os.fsencode(os.readlink(f"/proc/self/fd/{words[at - 1]}")), words[at])
    return words
