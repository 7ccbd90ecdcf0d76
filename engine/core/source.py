"""Places in the user's program where something was made.

A location is a tuple of ``(code object, line)`` pairs, innermost frame first, holding the user's frames only. By
default one frame is kept; :func:`full_stacks` keeps them all (what dumps and the debugger need). Both are interned,
and names and source text are looked up only when a location is printed. Frames of gradtool are recognised by the
module name they run under, never by a path.
"""

from __future__ import annotations

import linecache
import os
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from opcode import opmap
from types import CodeType, FrameType
from typing import Any, Final

from .identity import identity

Location = tuple[tuple[CodeType, int], ...]

NOWHERE: Final[Location] = ()
BOUNDARY: Final = "gradtool.engine.script.users_code"
"""The module that calls the user's code: frames outside it belong to the tool, not to the user."""

_ours: set[str] = set()
"""Names of modules that are not the user's, as far as they were met."""

packages = ["gradtool"]
"""The packages whose frames are nobody's: gradtool, and another engine while a program of it is watched."""

_pretended: Any = None
_pretended_drop: Location = NOWHERE

users: dict[str, bool] = {}
"""Names of the user's modules that were met: True for each. Empty inside :func:`full_stacks`, so that whoever looks a
frame's module up here before calling :func:`site` goes there for the whole stack."""

_keep_all = False
_calls: Callable[[str], str | None] | None = None
_interned: dict[object, Location] = {}
_inside: dict[int, tuple[CodeType, int]] = {}
"""By the identity of an interned location, the innermost frame where that is an installed package's."""
_tables: dict[int, tuple[CodeType, list[int], list[int]]] = {}
"""By the identity of a code object, which is held, the offsets at which lines begin, and these lines; 0 for none."""


@contextmanager
def full_stacks(keep: bool = True) -> Iterator[None]:
    """Keep every user frame of what is made inside, not only the innermost."""
    global _keep_all
    before, _keep_all = _keep_all, keep
    users.clear()
    try:
        yield
    finally:
        _keep_all = before
        users.clear()


def count_as_ours(package: str, ours: bool = True) -> None:
    """Count the frames of *package* as little as gradtool's own, or as the user's again.

    It computes for the user as gradtool does. (No context manager: making one costs calls at every start.)
    """
    if ours:
        packages.append(package)
        users.clear()
    else:
        packages.remove(package)
        _ours.clear()


def pretend(where: Any) -> Any:
    """Have everything that is made from now on stand at *where*, a :func:`site`; the one before, to be given back.

    For what is computed for a line of the user's that does not run now. None stands for the frames that do run.
    """
    global _pretended, _pretended_drop
    before, _pretended, _pretended_drop = _pretended, where, NOWHERE
    return before


def pretend_drop(line: Location) -> None:
    """Have the results of what is made until the next :func:`pretend` be dropped by a line of the user's."""
    global _pretended_drop
    _pretended_drop = line


_sweep_module, _sweep_code = "", None


def _place_of_sweep() -> Any:
    return None


def stand_in(function: Any, where: Callable[[], Any]) -> None:
    """Have *where* tell where the user's code around *function* stands: a recorded pass asks for each operator of it.

    None from it says that the frames must be looked at.
    """
    global _sweep_module, _sweep_code, _place_of_sweep
    _sweep_module, _sweep_code, _place_of_sweep = function.__module__, function.__code__, where


def is_ours(module: str) -> bool:
    """Return whether a module of that name is gradtool's, or that of a package that counts as ours."""
    if module in _ours:
        return True
    if module.partition(".")[0] in packages:
        _ours.add(module)
        return True
    return False


def site(frame: FrameType | None) -> Any:
    """Return the place of the user's code around *frame* in the cheapest form; :func:`locate` reads it."""
    if _pretended is not None:
        return _pretended
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module in users:
            return frame.f_code, frame.f_lasti
        if module == _sweep_module and frame.f_code is _sweep_code and not _keep_all:
            where = _place_of_sweep()
            if where is not None:
                return where
        if module not in _ours and not is_ours(module):  # this runs for every operator: asking costs more than looking
            break
        frame = frame.f_back
    if frame is None:
        return NOWHERE
    if _keep_all:
        return _whole(frame)
    if is_installed(frame.f_code.co_filename):
        return _caller_of_package(frame)
    users[module] = True
    return frame.f_code, frame.f_lasti


def _caller_of_package(frame: FrameType) -> Any:
    """Return the place of the user's line that called an installed package; of the package where there is none."""
    outer: FrameType | None = frame
    while outer is not None and (module := outer.f_globals.get("__name__", "")) != BOUNDARY:
        if not is_ours(module) and not is_installed(outer.f_code.co_filename):
            return outer.f_code, outer.f_lasti
        outer = outer.f_back
    return frame.f_code, frame.f_lasti


@lru_cache(maxsize=1024)
def is_installed(file: str) -> bool:
    """Tell whether a file is Python's or an installed package's."""
    if file.startswith("<frozen "):
        return True
    return file.startswith(_package_folders())


@lru_cache(maxsize=1)
def _package_folders() -> tuple[str, ...]:
    import sysconfig

    paths = sysconfig.get_paths()
    return tuple([os.path.join(paths[name], "") for name in ("stdlib", "platstdlib", "purelib", "platlib")])


def package_place(location: Location) -> str:
    """Return where an installed package stood that the user's line called, ``torchdiffeq/adjoint.py:206``; or empty."""
    frame = _inside.get(identity(location))
    if frame is None:
        return ""
    code, line = frame
    return f"{'/'.join(code.co_filename.replace(os.sep, '/').split('/')[-2:])}:{line}"


def locate(where: Any) -> Location:
    """The location of what :func:`site` returned: a location, or a code object and the offset of an instruction."""
    if not where or isinstance(where[0], tuple):
        return where  # type: ignore[no-any-return]
    code, offset = where
    # By identity: code objects of different files are equal when their text is.
    key = (identity(code), offset, "offset")
    location = _interned.get(key)
    if location is None:
        location = _interned[key] = _one(code, _line(code, offset))
    return location


def _line(code: CodeType, offset: int) -> int:
    """The line of an instruction; the table of a module of a thousand lines is read once, and not for each of them."""
    table = _tables.get(identity(code))
    if table is None:
        lines = [(start, n) for start, _, n in code.co_lines()]
        table = _tables[identity(code)] = code, [start for start, _ in lines], [n or 0 for _, n in lines]
    _, starts, numbers = table
    return numbers[max(bisect_right(starts, offset) - 1, 0)]


def _one(code: CodeType, line: int) -> Location:
    key = (identity(code), line)
    location = _interned.get(key)
    if location is None:
        location = _interned[key] = ((code, line),)
    return location


def here() -> Location:
    """The location of the user's code that called into gradtool, or :data:`NOWHERE`."""
    # What :func:`site` and :func:`locate` do, for lines that were met: it runs for every operator of a program.
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and (module := frame.f_globals.get("__name__")) in _ours:
        frame = frame.f_back
    if frame is None or module not in users or _pretended is not None:
        return locate(site(frame))
    location = _interned.get((identity(frame.f_code), frame.f_lasti, "offset"))
    return location if location is not None else locate(site(frame))


def locate_drop(frame: FrameType | None, gives: Callable[[str], bool] | None = None) -> Location:
    """Return the user's line that drops what a call around *frame* gives; :data:`NOWHERE` where none does.

    A statement that is a call alone, or an operator such as ``a + b``, drops its result. What a function returns at
    once, or names and returns, is dropped where the function is called so.

    Args:
        gives: whether the functions of a module that counts as ours give what they compute; all do by default.
    """
    if _pretended is not None:
        return _pretended_drop
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if is_ours(module) and (gives is None or gives(module)):
            frame = frame.f_back
            continue
        code = frame.f_code
        if module == BOUNDARY or is_ours(module) or is_installed(code.co_filename):
            break
        after = _find_use(code, frame.f_lasti)
        if after == _POP:
            return locate((code, frame.f_lasti))
        if after != _RETURN:
            break
        frame = frame.f_back
    return NOWHERE


_POP, _RETURN = opmap["POP_TOP"], opmap["RETURN_VALUE"]
_STORE, _LOAD = opmap["STORE_FAST"], opmap["LOAD_FAST"]
_GIVING: Final = {opmap[name] for name in ("CALL", "CALL_FUNCTION_EX", "CALL_KW", "BINARY_OP") if name in opmap}
"""Instructions that leave a result: calls, and operators between two values."""
_NAMED_AND_RETURNED: Final = bytes((_STORE, _LOAD, _RETURN))
_bytes: dict[int, tuple[CodeType, bytes]] = {}
"""By the identity of a code object, which is held, its instructions: Python writes them anew for whoever asks."""


def _find_use(code: CodeType, offset: int) -> int:
    """Return the instruction that uses the result of the call or operator at *offset*; 0 where there is none.

    A result that is given a name, which is returned next, counts as returned.
    """
    held = _bytes.get(identity(code))
    if held is None:
        held = _bytes[identity(code)] = code, code.co_code
    instructions = held[1]
    while offset > 0 and instructions[offset] == _CACHE:  # of a Python function the offset is behind the call
        offset -= 2
    if instructions[offset] not in _GIVING:
        return 0
    after = offset + 2
    while after < len(instructions) and instructions[after] == _CACHE:
        after += 2
    if after >= len(instructions):
        return 0
    # A name that is given and returned at once: nobody else can read it.
    following = instructions[after : after + 6]
    if len(following) == 6 and following[::2] == _NAMED_AND_RETURNED and following[1] == following[3]:
        return _RETURN
    return following[0]


_CACHE: Final = opmap.get("CACHE", 0)


def _whole(frame: FrameType | None) -> Location:
    frames = []
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module == BOUNDARY:
            break
        if not is_ours(module):
            frames.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back
    key = tuple((identity(code), line) for code, line in frames)
    known = _interned.get(key)
    if known is not None:
        return known
    own = tuple([frame for frame in frames if not is_installed(frame[0].co_filename)]) or tuple(frames)
    _interned[key] = own
    if own and own[0] is not frames[0]:
        _inside[identity(own)] = frames[0]
    return own


def stand_in_code(file: str, function: str, line: str = "") -> CodeType:
    """A stand-in for the code object of a function that only a file knows about; its source is never looked for.

    Args:
        line: the text of the one line that is known, if the file says it.
    """
    return _NO_CODE.replace(co_filename=_RECORDED + file, co_name=function, co_consts=(None, line))


def is_recorded(path: str) -> bool:
    """Return whether *path*, as a code object has it, is that of a function that only a file knows about."""
    return path.startswith(_RECORDED)


_NO_CODE: Final = stand_in_code.__code__
_RECORDED: Final = "<recorded>/"


def file_and_line(location: Location) -> tuple[str, int] | None:
    """File name (as the code object has it) and line of the innermost frame."""
    if not location:
        return None
    code, line = location[0]
    return code.co_filename, line


def frames(location: Location) -> Iterator[tuple[str, int, str]]:
    """The last part of the file's name, line and function of every frame, innermost first."""
    for code, line in location:
        yield last_part(code.co_filename), line, code.co_name


def call_files(calls: Callable[[str], str | None] | None) -> None:
    """Let *calls* say what people call a file that is none, as a cell of a notebook; None where it knows nothing."""
    global _calls
    _calls = calls


def display_path(path: str) -> str | None:
    """Return the name that people use for *path*, if it is a file only to the interpreter."""
    return None if _calls is None else _calls(path)


def last_part(path: str) -> str:
    """Return the last part of a file's path, which is the name that people use."""
    return display_path(path) or path.replace(chr(92), "/").rsplit("/", 1)[-1]


class Place(str):
    """``model.py:21``, as people read it: the file's last part and the line; empty where nothing is known.

    Attributes:
        path: of the file, as the interpreter has it.
        line: its number, from 1.
    """

    path = ""
    line = 0

    @property
    def file(self) -> str:
        """The file as programs are told of it, see :func:`file_named`."""
        return file_named(self.path)

    @property
    def whole(self) -> str:
        """``models/model.py:21``."""
        return f"{self.file}:{self.line}" if self else ""

    def data(self) -> dict[str, Any] | None:
        """File and line as a JSON object; None where nothing is known."""
        return {"file": self.file, "line": self.line} if self else None


def short(location: Location) -> Place:
    """``model.py:21``: the file's last part and the line; empty when the location is not known."""
    if not location:
        return Place()
    code, line = location[0]
    place = Place(f"{last_part(code.co_filename)}:{line}")
    place.path, place.line = code.co_filename, line
    return place


def file_named(path: str) -> str:
    """A file as programs are told of it: its path from the working folder, if it lies there, and else the whole path.

    What is a file to the interpreter alone, as a cell of a notebook, keeps the name that people know it by.
    """
    name = display_path(path)
    if name is not None or path.startswith("<"):
        return name or path.removeprefix(_RECORDED)
    try:
        return _relative_path(path, os.getcwd())
    except (OSError, ValueError):  # the working folder is gone, or on another drive
        return path


@lru_cache(maxsize=1024)
def _relative_path(path: str, folder: str) -> str:
    """Return the name that :func:`file_named` gives while *folder* is the working folder; answers need it for each
    operator.
    """
    inside = os.path.relpath(path, folder)
    return (os.path.abspath(path) if inside.startswith(os.pardir) else inside).replace(os.sep, "/")


_LONGEST: Final = 400
"""Characters of a line that are told: a program in JSON is one line."""


def text(code: CodeType, line: int) -> str:
    """The source line itself, stripped, and cut where it is long; empty when the file can no longer be read."""
    if is_recorded(code.co_filename) and (code.co_consts[-1] or code.co_filename not in linecache.cache):
        held = str(code.co_consts[-1])  # of files that a saved session holds the lines are in the cache
    else:
        held = linecache.getline(code.co_filename, line).strip()
    return held if len(held) <= _LONGEST else f"{held[:_LONGEST]} …"


def describe(location: Location) -> str | None:
    """``train.py:31 in model:  z = h * gate``, or None when the location is not known."""
    if not location:
        return None
    code, line = location[0]
    where = f"{short(location)} in {code.co_name}"
    source = text(code, line)
    return f"{where}:  {source}" if source else where


def stack(location: Location) -> Iterator[str]:
    """The frames, outermost first, each as ``File "model.py", line 3, in build`` followed by its source line."""
    for code, line in reversed(location):
        file = file_named(code.co_filename)
        yield f'File "{file}", line {line}, in {code.co_name}'
        source = text(code, line)
        if source:
            yield f"    {source}"
