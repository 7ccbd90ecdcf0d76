"""An overlay: what a run writes goes into a folder of its own, and the run itself finds it where it wrote it.

Inside :meth:`Overlay.active`, ``open`` and the functions of :mod:`os` that take paths are the overlay's. Whoever goes
through them (``pathlib``, ``shutil``, ``json``, NumPy, :mod:`.writing`) reads what the run has written before, under
the names that it used, and else the files that are there. What the run writes, makes, renames or removes leaves those
as they are. Libraries that open files by themselves are led there, too (:mod:`.native`), and a write that would go past
it is refused (:mod:`.write_audit`). Other processes go past it, and threads that were there before.
"""

from __future__ import annotations

import _imp
import builtins
import errno
import os
import stat
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import partial
from typing import Any

from . import native, temporary_files, write_audit
from .layer import PathLayer, copy, exists, refuse
from .python_functions import (
    BY_NUMBER,
    CHANGING,
    MAKING,
    OTHERS,
    READING,
    current_folder,
    opens,
    real,
    real_open,
    replace_functions,
)
from .python_functions import leave_overlay as leave_overlay

_TABLE = "numpy.lib._datasource"
"""Has a table of functions that open files."""


asked: Callable[[str], None] | None = None
"""Is told of every path that a run asks about, if somebody wants to know."""

_current: ContextVar[Overlay | None] = ContextVar("gradtool_overlay", default=None)


def active() -> AbstractContextManager[None]:
    """A context in which files are the overlay's of the run that is going on, if it has one."""
    overlay = _current.get()
    return nullcontext() if overlay is None else overlay.active()


@contextmanager
def activate(overlay: Overlay | None) -> Iterator[None]:
    """Inside, :func:`active` means *overlay*, which is removed at the end; None means the files themselves."""
    token = _current.set(overlay)
    folder = current_folder()
    try:
        yield
    finally:
        _current.reset(token)
        if folder is not None and folder != current_folder():
            real.chdir(folder)
        if overlay is not None:
            overlay.close()


def _open_as_it_is(*args: Any, **options: Any) -> Any:
    """Call ``open`` as it is at the time of the call."""
    return builtins.open(*args, **options)


class Overlay(PathLayer):
    """Files that one run has written, and the functions that write them.

    Attributes:
        home: the current folder when the run began, if there is one.
    """

    def __init__(self) -> None:
        super().__init__()
        others = {*threading.enumerate()} - {threading.current_thread()}
        self._others = {thread.ident: thread for thread in others}
        """Threads that have nothing to do with the run; a later one may have the number of one that is over."""
        self._closed = False
        self._local = threading.local()
        self._functions: dict[tuple[Any, str], Any] = {}

    @contextmanager
    def active(self) -> Iterator[None]:
        """A context in which whoever asks for a file asks the overlay."""
        if not self._functions:
            for names, place in ((READING, self.current), (CHANGING, self.writable_path)):
                self._functions |= {(os, n): partial(self._query, getattr(real, n), place) for n in names}
            self._functions |= {(os, name): getattr(self, f"_{name}") for name in OTHERS}
            self._functions |= {(os, name): partial(self._make, getattr(real, name)) for name in MAKING}
            self._functions |= {
                (os, name): partial(self._query, getattr(real, of), self.writable_path)
                for name, of in BY_NUMBER.items()
            }
            self._functions[_imp, "create_dynamic"] = _wrap_loader(_imp.create_dynamic)
            if _TABLE in sys.modules:  # savetxt and loadtxt have taken Python's function
                sys.modules[_TABLE]._file_openers._file_openers[None] = _open_as_it_is
        functions = self._functions | dict.fromkeys(opens(), self._open_file)
        if "shutil" in sys.modules:  # it would go by descriptors of folders, which have no names
            functions[sys.modules["shutil"], "_use_fd_functions"] = False
        if "ctypes" in sys.modules:
            functions[sys.modules["ctypes"], "_dlopen"] = _wrap_loader(sys.modules["_ctypes"].dlopen)
        with replace_functions(functions), write_audit.audit(self), native.redirect(self):
            yield

    def close(self) -> None:
        """Remove all of it; who has kept one of its functions gets the real one's answers."""
        self._closed = True
        if self._folder:
            import shutil

            shutil.rmtree(self._folder, ignore_errors=True)
            temporary_files.folders.pop(self._folder, None)

    def is_meant(self) -> bool:
        """Return whether this thread is one of the run's."""
        number = threading.get_ident()
        other = number in self._others and self._others[number] is threading.current_thread()
        return not self._closed and not other

    @property
    def is_handling(self) -> bool:
        """True if this thread is opening a file in the overlay's way."""
        return getattr(self._local, "opening", 0) > 0

    def _subject(self, path: Any, folder: int | None = None) -> str | None:
        """The path that a function was called with; None if that is nothing of the overlay's.

        Args:
            folder: the descriptor of the folder that it is relative to.
        """
        if not self.is_meant() or isinstance(path, int):
            return None
        text = os.fsdecode(path)
        if folder is not None and not os.path.isabs(text):
            text = os.path.join(name_of(folder), text)
        if asked is not None:
            asked(text)
        return text if text and "\0" not in text else None

    # -- what stands in the place of Python's functions ----------------------------------------------------------------

    def _query(
        self, function: Callable[..., Any], place: Callable[[str], str], path: Any, *args: Any, **options: Any
    ) -> Any:
        subject = self._subject(path, options.get("dir_fd"))
        if isinstance(path, int) and place == self.writable_path and self.is_meant():
            name = name_of(path)
            subject = name if exists(name) and not self.may_change(name) else None
        there = subject if subject is None else place(subject)
        if there is None or (there == subject and options.get("dir_fd") is None):
            return function(path, *args, **options)
        with _name_in_errors(path):
            return function(there, *args, **{name: value for name, value in options.items() if name != "dir_fd"})

    def _make(self, function: Callable[..., Any], path: Any, *args: Any, **options: Any) -> Any:
        subject = self._subject(path, options.get("dir_fd"))
        if subject is None:
            return function(path, *args, **options)
        with _name_in_errors(path):
            return function(self.writable_path(subject, new=True), *args)

    def _open_file(self, file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
        named = dict(zip(("buffering", "encoding", "errors", "newline", "closefd", "opener"), args, strict=False))
        options = named | options
        subject = None if isinstance(file, int) or not isinstance(mode, str) else self._subject(file)
        if subject is None or options.get("opener") is not None:
            return self._open_known(file, mode, options)  # the opener asks for a file
        if {"w", "a", "x", "+"}.isdisjoint(mode):
            there = self.current(subject)
        else:
            there = self.writable_path(subject, keep="w" not in mode, new="x" in mode)
        if there == subject:
            return self._open_known(file, mode, options)

        def opener(name: Any, flags: int) -> int:
            with _name_in_errors(file):
                return real.open(there, flags, 0o666)  # type: ignore[no-any-return]

        return self._open_known(file, mode, options | {"opener": opener})

    def _open_known(self, file: Any, mode: str, options: Mapping[str, Any]) -> Any:
        """Return what Python's ``open`` gives for a name that the overlay already knows."""
        self._local.opening = getattr(self._local, "opening", 0) + 1
        try:
            return real_open(file, mode, **options)
        finally:
            self._local.opening -= 1

    def _open(self, path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        subject = self._subject(path, dir_fd)
        changing = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        if subject is None or (changing and self._is_temporary(subject)):
            return real.open(path, flags, mode, dir_fd=dir_fd)  # type: ignore[no-any-return]
        if changing:
            new = bool(flags & os.O_EXCL) and bool(flags & os.O_CREAT)
            keep = not flags & os.O_TRUNC or not flags & os.O_CREAT
            there = self.writable_path(subject, keep=keep, new=new)
        else:
            there = self.current(subject)
        with _name_in_errors(path):
            return real.open(there, flags, mode)  # type: ignore[no-any-return]

    def _is_temporary(self, path: str) -> bool:
        """Return whether ``tempfile`` is making something of its own, which is left alone from then on."""
        if sys._getframe(2).f_globals.get("__name__") != "tempfile":
            return False
        absolute, folder = self._absolute(path), sys.modules["tempfile"].tempdir
        temporary = folder is None or os.path.dirname(absolute) == os.path.abspath(folder)
        if temporary:
            self._temporary.add(absolute)
        return temporary

    def _mkdir(self, path: Any, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        subject = self._subject(path, dir_fd)
        if subject is None or self._is_temporary(subject):
            real.mkdir(path, mode, dir_fd=dir_fd)
            return
        real.mkdir(self.writable_path(subject, new=True), mode)

    def _remove(self, path: Any, *, dir_fd: int | None = None) -> None:
        subject = self._subject(path, dir_fd)
        if subject is None:
            real.remove(path, dir_fd=dir_fd)
            return
        status = self._status(subject, follow=False)
        if status is None:
            refuse(errno.ENOENT, path)
        if stat.S_ISDIR(status.st_mode):
            refuse(errno.EISDIR, path)
        self._vanish(subject)

    _unlink = _remove

    def _rmdir(self, path: Any, *, dir_fd: int | None = None) -> None:
        subject = self._subject(path, dir_fd)
        if subject is None or self._is_left_alone(self._absolute(subject)):
            real.rmdir(path, dir_fd=dir_fd)
            return
        if not self._is_folder(subject):
            refuse(errno.ENOENT if self._status(subject) is None else errno.ENOTDIR, path)
        if self._listdir(subject):
            refuse(errno.ENOTEMPTY, path)
        self._vanish(subject)

    def _replace(self, src: Any, dst: Any, *, src_dir_fd: int | None = None, dst_dir_fd: int | None = None) -> None:
        old, new = self._subject(src, src_dir_fd), self._subject(dst, dst_dir_fd)
        if old is None or new is None:
            real.replace(src, dst, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)
            return
        if self._status(old, follow=False) is None:
            refuse(errno.ENOENT, src)
        if self._is_left_alone(self._absolute(old)) and self._is_left_alone(self._absolute(new)):
            real.replace(old, new)
            return
        before = self._status(old, follow=False)
        if before is not None and stat.S_ISLNK(before.st_mode):
            self._replace_link(old, new)
            return
        if self._is_folder(old):
            self._replace_folder(old, new)
            return
        if self._is_folder(new):
            refuse(errno.EISDIR, dst)
        source, place = self.current(old), self.writable_path(new, keep=False)
        if source.startswith(self._folder + os.sep) and place.startswith(self._folder + os.sep):
            real.replace(source, place)
        else:
            copy(source, place)
        self._vanish(old)

    _rename = _replace

    def _replace_link(self, old: str, new: str) -> None:
        """A link gets another name; where it leads stays."""
        target = real.readlink(self.current(old))
        if self._status(new, follow=False) is not None:
            self._vanish(new)
        real.symlink(target, self.writable_path(new, new=True))
        self._links.add(self._absolute(new))
        self._vanish(old)

    def _replace_folder(self, old: str, new: str) -> None:
        """Everything in it is copied under its new name, in the overlay."""
        if self._is_left_alone(self._absolute(old)) or self._is_left_alone(self._absolute(new)):
            refuse(errno.EXDEV, old)  # as between two disks
        if self._status(new) is not None:
            self._rmdir(new)
        folders = [(old, new)]
        for before, after in folders:
            real.mkdir(self.writable_path(after, new=True))
            for name in self._listdir(before):
                source, target = os.path.join(before, name), os.path.join(after, name)
                if self._is_folder(source):
                    folders.append((source, target))
                else:
                    copy(self.current(source), self.writable_path(target, keep=False))
                    self._vanish(source)
        for before, _ in reversed(folders):
            self._vanish(before)

    def _symlink(self, src: Any, dst: Any, *args: Any, **options: Any) -> None:
        subject = self._subject(dst, options.get("dir_fd"))
        if subject is None:
            real.symlink(src, dst, *args, **options)
            return
        beside = os.path.join(os.path.dirname(self._absolute(subject)), os.fsdecode(src))
        real.symlink(self.current(beside), self.writable_path(subject, new=True))
        self._links.add(self._absolute(subject))

    def _link(self, src: Any, dst: Any, **options: Any) -> None:
        source = self._subject(src, options.get("src_dir_fd"))
        subject = self._subject(dst, options.get("dst_dir_fd"))
        if source is None or subject is None:
            real.link(src, dst, **options)
            return
        copy(self.current(source), self.writable_path(subject, keep=False, new=True))

    def _listdir(self, path: Any = ".") -> list[Any]:
        subject = None if isinstance(path, bytes) else self._subject(path)
        names = None if subject is None else self._names(subject)
        if subject is None or names is None:
            return real.listdir(path)  # type: ignore[no-any-return]
        if not self._is_folder(subject):
            refuse(errno.ENOENT if self._status(subject) is None else errno.ENOTDIR, path)
        return names

    def _scandir(self, path: Any = ".") -> Any:
        subject = None if isinstance(path, bytes) else self._subject(path)
        if subject is None or self._names(subject) is None:
            return real.scandir(path)
        from .dir_entries import DirectoryEntries, DirectoryEntry

        return DirectoryEntries([DirectoryEntry(name, os.path.join(subject, name)) for name in self._listdir(subject)])

    def _chdir(self, path: Any) -> None:
        subject = self._subject(path)
        if subject is None:
            real.chdir(path)
            return
        absolute = self._absolute(subject)
        with _name_in_errors(path):
            self._elsewhere = self._is_gone(absolute) or not exists(absolute)
            real.chdir(self._folder + absolute if self._elsewhere else absolute)

    # -- for libraries that ask by themselves --------------------------------------------------------------------------

    def remove(self, path: str) -> None:
        """Remove a file."""
        self._remove(path)

    def rmdir(self, path: str) -> None:
        """Remove an empty folder."""
        self._rmdir(path)

    def replace(self, old: str, new: str) -> None:
        """Rename a file or a folder."""
        self._replace(old, new)

    def link(self, old: str, new: str) -> None:
        """Give a file one more name."""
        self._link(old, new)

    def symlink(self, text: str, new: str) -> None:
        """Make a link."""
        self._symlink(text, new)


def _wrap_loader(load: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function that loads a library, so that the library's file calls go to the overlay."""

    def load_library(*args: Any, **options: Any) -> Any:
        library = load(*args, **options)
        native.look_through()
        return library

    return load_library


def name_of(descriptor: int) -> str:
    """The path of an open file or folder."""
    try:
        return str(real.readlink(f"/proc/self/fd/{descriptor}"))
    except OSError:
        raise write_audit.refusal(f"the file of descriptor {descriptor}") from None


@contextmanager
def _name_in_errors(path: Any) -> Iterator[None]:
    """Have errors inside name the file as the run does."""
    try:
        yield
    except OSError as error:
        error.filename = path
        raise
