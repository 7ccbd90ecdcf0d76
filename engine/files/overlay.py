"""An overlay: what a run writes goes into a folder of its own, and the run itself finds it where it wrote it.

Inside :meth:`Overlay.active`, ``open`` and the functions of :mod:`os` that take paths are the overlay's. Whoever goes
through them (``pathlib``, ``shutil``, ``json``, NumPy, :mod:`.writing`) reads what the run has written before, under
the names that it used, and else the files that are there. What the run writes, makes, renames or removes leaves those
as they are. Past it go other processes, libraries that open files by themselves, and threads that were there before.

A path stands below the overlay's folder with all of its parts: ``/home/a/best.npz`` as ``FOLDER/home/a/best.npz``. What
the run has removed is in a set of names, and hides what lies below in the real folders. Left alone are the files of
caches, what ``tempfile`` makes where temporary files go, and all that is neither a file nor a folder.
"""

from __future__ import annotations

import builtins
import errno
import os
import stat
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from functools import partial
from types import SimpleNamespace
from typing import Any, NoReturn

_CACHES = frozenset({"__pycache__", ".cache", "Caches"})
"""Folders for what can be made again at any time."""

_SYSTEM = ("/dev/", "/proc/", "/sys/")

_READING = tuple([n for n in ("stat", "lstat", "access", "readlink", "listxattr", "getxattr") if hasattr(os, n)])
_CHANGING = tuple([n for n in ("chmod", "utime", "truncate", "setxattr", "chown") if hasattr(os, n)])
_OTHERS = (
    *("open", "mkdir", "remove", "unlink", "rmdir", "rename", "replace", "symlink", "link"),
    *("listdir", "scandir", "chdir", "getcwd"),
)
_OPENS = (("builtins", "open"), ("io", "open"), ("tarfile", "bltn_open"), ("bz2", "_builtin_open"))
"""Where libraries keep Python's ``open``; ``lzma`` takes it from ``builtins``."""

_TABLE = "numpy.lib._datasource"
"""Has a table of functions that open files."""

_real = SimpleNamespace(**{name: getattr(os, name) for name in (*_READING, *_CHANGING, *_OTHERS)})
"""The functions as Python has them."""
_open = builtins.open

Functions = Mapping[tuple[Any, str], Any]
"""Modules and names of functions, and what stands there."""


@contextmanager
def _in_place(functions: Functions) -> Iterator[None]:
    before = {(module, name): getattr(module, name) for module, name in functions}
    for (module, name), function in functions.items():
        setattr(module, name, function)
    try:
        yield
    finally:
        for (module, name), function in before.items():
            setattr(module, name, function)


def outside() -> AbstractContextManager[None]:
    """A context in which files are written where they are said to be, also inside an active overlay."""
    names = [name for name in (*_READING, *_CHANGING, *_OTHERS) if hasattr(_real, name)]
    return _in_place({(os, n): getattr(_real, n) for n in names} | dict.fromkeys(_opens(), _open))


def _opens() -> list[tuple[Any, str]]:
    return [(sys.modules[module], name) for module, name in _OPENS if module in sys.modules]


asked: Callable[[str], None] | None = None
"""Is told of every path that a run asks about, if somebody wants to know."""

_current: ContextVar[Overlay | None] = ContextVar("gradtool_overlay", default=None)


def active() -> AbstractContextManager[None]:
    """A context in which files are the overlay's of the run that is going on, if it has one."""
    overlay = _current.get()
    return nullcontext() if overlay is None else overlay.active()


def is_active() -> bool:
    """Whether files are an overlay's now."""
    return os.open is not _real.open


@contextmanager
def over(overlay: Overlay | None) -> Iterator[None]:
    """Inside, :func:`active` means *overlay*, which is removed at the end; None means the files themselves."""
    token = _current.set(overlay)
    folder = current_folder()
    try:
        yield
    finally:
        _current.reset(token)
        if folder is not None and folder != current_folder():
            _real.chdir(folder)
        if overlay is not None:
            overlay.close()


def current_folder() -> str | None:
    """The current folder; None when it has been deleted."""
    try:
        return _real.getcwd()  # type: ignore[no-any-return]
    except OSError:
        return None


def _open_as_it_is(*args: Any, **options: Any) -> Any:
    """What ``open`` is when it is called."""
    return builtins.open(*args, **options)


class Overlay:
    """What one run has written.

    Attributes:
        home: the current folder when the run began, if there is one.
    """

    def __init__(self) -> None:
        self.home = current_folder()
        self._others = {*threading.enumerate()} - {threading.current_thread()}
        """Threads that have nothing to do with the run."""
        self._folder = ""
        """Where it lies; empty until something is changed."""
        self._gone: set[str] = set()
        self._temporary: set[str] = set()
        self._elsewhere = False
        """Whether the current folder is one that only the overlay has."""
        self._closed = False
        self._functions: dict[tuple[Any, str], Any] = {}

    def active(self) -> AbstractContextManager[None]:
        """A context in which whoever asks for a file asks the overlay."""
        if not self._functions:
            for names, place in ((_READING, self.current), (_CHANGING, self.changed)):
                self._functions |= {(os, n): partial(self._asked, getattr(_real, n), place) for n in names}
            self._functions |= {(os, name): getattr(self, f"_{name}") for name in _OTHERS}
            if _TABLE in sys.modules:  # savetxt and loadtxt have taken Python's function
                sys.modules[_TABLE]._file_openers._file_openers[None] = _open_as_it_is
        functions = self._functions | dict.fromkeys(_opens(), self._open_file)
        if "shutil" in sys.modules:  # it would go by descriptors of folders, which have no names
            functions[sys.modules["shutil"], "_use_fd_functions"] = False
        return _in_place(functions)

    def close(self) -> None:
        """Remove all of it; who has kept one of its functions gets the real one's answers."""
        self._closed = True
        if self._folder:
            import shutil

            shutil.rmtree(self._folder, ignore_errors=True)

    def changes(self) -> tuple[list[str], list[str]]:
        """The files that the run wrote, and new folders without any, in order; and those that it removed."""
        written: list[str] = []
        if not self._folder:
            return written, []
        with outside():
            for folder, folders, files in os.walk(self._folder):
                path = folder[len(self._folder) :]
                written += [os.path.join(path, file) for file in files]
                if not folders and not files and path and not _exists(path):
                    written.append(path + os.sep)
        removed = [p for p in self._gone if not _exists(self._folder + p) and self._is_folder(os.path.dirname(p))]
        return sorted(written), sorted(removed)

    # -- paths ---------------------------------------------------------------------------------------------------------

    def _absolute(self, path: str) -> str:
        absolute = os.path.abspath(path)
        if self._folder and absolute.startswith(self._folder + os.sep):
            return absolute[len(self._folder) :]
        return absolute

    def _is_gone(self, absolute: str) -> bool:
        while self._gone and absolute not in self._gone:
            above = os.path.dirname(absolute)
            if above == absolute:
                return False
            absolute = above
        return bool(self._gone)

    def _is_left_alone(self, absolute: str) -> bool:
        if absolute.startswith((*_SYSTEM, sys.pycache_prefix or _SYSTEM[0])) or not _CACHES.isdisjoint(
            absolute.split(os.sep)
        ):
            return True
        return any(absolute == t or absolute.startswith(t + os.sep) for t in self._temporary)

    def current(self, path: str) -> str:
        """Where the file of that name can be read."""
        if not self._folder:
            return path
        absolute = self._absolute(path)
        above = self._folder + absolute
        if _exists(above) or self._is_gone(absolute):
            return above
        return absolute if self._elsewhere else path

    def _status(self, path: str, follow: bool = True) -> os.stat_result | None:
        """What is there now; None for nothing."""
        try:
            return (_real.stat if follow else _real.lstat)(self.current(path))  # type: ignore[no-any-return]
        except OSError:
            return None

    def _is_folder(self, path: str) -> bool:
        status = self._status(path)
        return status is not None and stat.S_ISDIR(status.st_mode)

    def changed(self, path: str, keep: bool = True, new: bool = False) -> str:
        """Where a file can be written that the run calls *path*.

        Args:
            keep: whether what is in it is there already.
            new: whether there may not be one.

        Raises:
            OSError: it is there although it is to be new, or its folder is not.
        """
        absolute = self._absolute(path)
        if self._is_left_alone(absolute):
            return path
        status = self._status(path, follow=False)
        if new and status is not None:
            _refuse(errno.EEXIST, path)
        if not self._is_folder(os.path.dirname(absolute)):
            _refuse(errno.ENOENT, path)
        if status is None:
            return self._place(absolute)
        if not stat.S_ISLNK(status.st_mode) and not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
            return path
        source, place = self.current(absolute), self._place(absolute)
        if source != place and stat.S_ISDIR(status.st_mode):
            _real.mkdir(place)
        elif source != place and keep:
            _copy(source, place)
        return place

    def _place(self, absolute: str) -> str:
        """The path in the overlay, in a folder that is there."""
        if not self._folder:
            import tempfile  # which imports shutil: here, where that cannot see how to go by descriptors of folders

            with outside():
                self._folder = os.path.realpath(tempfile.mkdtemp(prefix="gradtool-"))
        parents, folder = [], os.path.dirname(self._folder + absolute)
        while not _exists(folder):
            parents.append(folder)
            folder = os.path.dirname(folder)
        for folder in reversed(parents):
            _real.mkdir(folder)
        return self._folder + absolute

    def _vanish(self, path: str) -> None:
        """Have nothing of that name there any more."""
        absolute = self._absolute(path)
        if self._is_left_alone(absolute):
            _real.unlink(path)
            return
        place = self._place(absolute)
        with suppress(FileNotFoundError):
            if stat.S_ISDIR(_real.lstat(place).st_mode):
                _real.rmdir(place)
            else:
                _real.unlink(place)
        if _exists(absolute):
            self._gone.add(absolute)

    def _names(self, path: str) -> list[str] | None:
        """What is in a folder; None where that is the real folder alone."""
        absolute = self._absolute(path)
        place = self._folder + absolute
        own = _exists(place) or self._is_gone(absolute) or any(os.path.dirname(p) == absolute for p in self._gone)
        if not self._folder or not own:
            return None
        names = set(_real.listdir(place)) if _exists(place) else set()
        if not self._is_gone(absolute):
            with suppress(FileNotFoundError):
                below = _real.listdir(absolute)
                names.update(name for name in below if os.path.join(absolute, name) not in self._gone)
        return sorted(names)

    def _subject(self, path: Any, options: Mapping[str, Any]) -> str | None:
        """The path that a function was called with; None if that is nothing of the overlay's."""
        if self._closed or threading.current_thread() in self._others:
            return None
        if isinstance(path, int) or any(options.get(o) is not None for o in _BY_DESCRIPTOR):
            return None
        text = os.fsdecode(path)
        if asked is not None:
            asked(text)
        return text if text and "\0" not in text else None

    # -- what stands in the place of Python's functions ----------------------------------------------------------------

    def _asked(
        self, function: Callable[..., Any], place: Callable[[str], str], path: Any, *args: Any, **options: Any
    ) -> Any:
        subject = self._subject(path, options)
        there = subject if subject is None else place(subject)
        if there is None or there == subject:
            return function(path, *args, **options)
        with _called(path):
            return function(there, *args, **options)

    def _open_file(self, file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
        named = dict(zip(("buffering", "encoding", "errors", "newline", "closefd", "opener"), args, strict=False))
        options = named | options
        subject = None if isinstance(file, int) or not isinstance(mode, str) else self._subject(file, {})
        if subject is None or options.get("opener") is not None:
            return _open(file, mode, **options)
        if {"w", "a", "x", "+"}.isdisjoint(mode):
            there = self.current(subject)
        else:
            there = self.changed(subject, keep="w" not in mode, new="x" in mode)
        if there == subject:
            return _open(file, mode, **options)

        def opener(name: Any, flags: int) -> int:
            with _called(file):
                return _real.open(there, flags, 0o666)  # type: ignore[no-any-return]

        return _open(file, mode, **options | {"opener": opener})

    def _open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        subject = self._subject(path, {"dir_fd": dir_fd})
        changing = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        if subject is None or (changing and self._is_temporary(subject)):
            return _real.open(path, flags, mode, dir_fd=dir_fd)  # type: ignore[no-any-return]
        if changing:
            new = bool(flags & os.O_EXCL) and bool(flags & os.O_CREAT)
            there = self.changed(subject, keep=not flags & os.O_TRUNC, new=new)
        else:
            there = self.current(subject)
        with _called(path):
            return _real.open(there, flags, mode)  # type: ignore[no-any-return]

    def _is_temporary(self, path: str) -> bool:
        """Whether ``tempfile`` is making something of its own, which is left alone from then on."""
        if sys._getframe(2).f_globals.get("__name__") != "tempfile":
            return False
        absolute, folder = self._absolute(path), sys.modules["tempfile"].tempdir
        temporary = folder is None or os.path.dirname(absolute) == os.path.abspath(folder)
        if temporary:
            self._temporary.add(absolute)
        return temporary

    def _mkdir(self, path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        subject = self._subject(path, {"dir_fd": dir_fd})
        if subject is None or self._is_temporary(subject):
            _real.mkdir(path, mode, dir_fd=dir_fd)
            return
        _real.mkdir(self.changed(subject, new=True), mode)

    def _remove(self, path: Any, *, dir_fd: int | None = None) -> None:
        subject = self._subject(path, {"dir_fd": dir_fd})
        if subject is None:
            _real.remove(path, dir_fd=dir_fd)
            return
        status = self._status(subject, follow=False)
        if status is None:
            _refuse(errno.ENOENT, path)
        if stat.S_ISDIR(status.st_mode):
            _refuse(errno.EISDIR, path)
        self._vanish(subject)

    _unlink = _remove

    def _rmdir(self, path: Any, *, dir_fd: int | None = None) -> None:
        subject = self._subject(path, {"dir_fd": dir_fd})
        if subject is None or self._is_left_alone(self._absolute(subject)):
            _real.rmdir(path, dir_fd=dir_fd)
            return
        if not self._is_folder(subject):
            _refuse(errno.ENOENT if self._status(subject) is None else errno.ENOTDIR, path)
        if self._listdir(subject):
            _refuse(errno.ENOTEMPTY, path)
        self._vanish(subject)

    def _replace(self, src: Any, dst: Any, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None) -> None:
        options = {"src_dir_fd": src_dir_fd, "dst_dir_fd": dst_dir_fd}
        old, new = self._subject(src, options), self._subject(dst, options)
        if old is None or new is None:
            _real.replace(src, dst, **options)
            return
        if self._status(old, follow=False) is None:
            _refuse(errno.ENOENT, src)
        if self._is_left_alone(self._absolute(old)) and self._is_left_alone(self._absolute(new)):
            _real.replace(src, dst)
            return
        if self._is_folder(old):
            self._replace_folder(old, new)
            return
        if self._is_folder(new):
            _refuse(errno.EISDIR, dst)
        source, place = self.current(old), self.changed(new, keep=False)
        if source.startswith(self._folder + os.sep) and place.startswith(self._folder + os.sep):
            _real.replace(source, place)
        else:
            _copy(source, place)
        self._vanish(old)

    _rename = _replace

    def _replace_folder(self, old: str, new: str) -> None:
        """Everything in it is copied under its new name, in the overlay."""
        if self._is_left_alone(self._absolute(old)) or self._is_left_alone(self._absolute(new)):
            _refuse(errno.EXDEV, old)  # as between two disks
        if self._status(new) is not None:
            self._rmdir(new)
        folders = [(old, new)]
        for before, after in folders:
            _real.mkdir(self.changed(after, new=True))
            for name in self._listdir(before):
                source, target = os.path.join(before, name), os.path.join(after, name)
                if self._is_folder(source):
                    folders.append((source, target))
                else:
                    _copy(self.current(source), self.changed(target, keep=False))
                    self._vanish(source)
        for before, _ in reversed(folders):
            self._vanish(before)

    def _symlink(self, src: Any, dst: Any, *args: Any, **options: Any) -> None:
        subject = self._subject(dst, options)
        if subject is None:
            _real.symlink(src, dst, *args, **options)
            return
        beside = os.path.join(os.path.dirname(self._absolute(subject)), os.fsdecode(src))
        _real.symlink(self.current(beside), self.changed(subject, new=True))

    def _link(self, src: Any, dst: Any, **options: Any) -> None:
        source, subject = self._subject(src, options), self._subject(dst, options)
        if source is None or subject is None:
            _real.link(src, dst, **options)
            return
        _copy(self.current(source), self.changed(subject, keep=False, new=True))

    def _listdir(self, path: Any = ".") -> list[Any]:
        subject = None if isinstance(path, bytes) else self._subject(path, {})
        names = None if subject is None else self._names(subject)
        if subject is None or names is None:
            return _real.listdir(path)  # type: ignore[no-any-return]
        if not self._is_folder(subject):
            _refuse(errno.ENOENT if self._status(subject) is None else errno.ENOTDIR, path)
        return names

    def _scandir(self, path: Any = ".") -> Any:
        subject = None if isinstance(path, bytes) else self._subject(path, {})
        if subject is None or self._names(subject) is None:
            return _real.scandir(path)
        from .listed import Entries, Entry

        return Entries([Entry(name, os.path.join(subject, name)) for name in self._listdir(subject)])

    def _chdir(self, path: Any) -> None:
        subject = self._subject(path, {})
        if subject is None:
            _real.chdir(path)
            return
        absolute = self._absolute(subject)
        with _called(path):
            self._elsewhere = self._is_gone(absolute) or not _exists(absolute)
            _real.chdir(self._folder + absolute if self._elsewhere else absolute)

    def _getcwd(self) -> str:
        folder: str = _real.getcwd()
        inside = self._folder and folder.startswith(self._folder + os.sep)
        return folder[len(self._folder) :] if inside else folder


_BY_DESCRIPTOR = ("dir_fd", "src_dir_fd", "dst_dir_fd")


def _exists(path: str) -> bool:
    try:
        _real.lstat(path)
    except (OSError, ValueError):
        return False
    return True


def _copy(source: str, target: str) -> None:
    """Copy a file with its permissions."""
    with _open(source, "rb") as old, _open(target, "wb") as new:
        while piece := old.read(1 << 20):
            new.write(piece)
    _real.chmod(target, stat.S_IMODE(_real.stat(source).st_mode) | stat.S_IWUSR)


def _refuse(number: int, path: Any) -> NoReturn:
    raise OSError(number, os.strerror(number), path)


@contextmanager
def _called(path: Any) -> Iterator[None]:
    """Have errors inside name the file as the run does."""
    try:
        yield
    except OSError as error:
        error.filename = path
        raise
