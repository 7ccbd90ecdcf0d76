"""The entries through which loaded libraries call functions of others: where they stand, and what stands there.

A library's file (ELF) lists them as relocations: the place of an entry and the name of the function whose address the
loader puts there. The lists stay in memory, and :func:`entries` reads them there.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import platform
import sys
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

_KINDS: Final[tuple[int, ...]] = {"x86_64": (1, 6, 7), "aarch64": (257, 1025, 1026)}.get(platform.machine(), ())
"""Of relocations: the address of a function in data, in the table of addresses, and in that of calls."""


def _has_glibc() -> bool:
    try:
        return sys.platform == "linux" and "glibc" in (os.confstr("CS_GNU_LIBC_VERSION") or "")
    except (AttributeError, OSError, ValueError):
        return False


POSSIBLE: Final = _has_glibc() and bool(_KINDS) and sys.maxsize > 2**32
"""Whether the lists are as they are read here."""

_KEEP_THEIRS: Final = (
    *("libpython", "libc.so", "libc-", "ld-linux", "libpthread", "libdl.", "libdl-", "libm.", "libm-", "librt"),
    *("linux-vdso", "libffi", "libasan", "libtsan", "_ctypes.", "libscipy_openblas", "libopenblas"),
)
"""Beginnings of the names of libraries whose entries stay: the interpreter's and the C library's parts, and what calls
functions of ours. NumPy's stay, too: it opens files with Python's functions."""

_DYNAMIC, _LOADED_ONCE = 2, 0x6474E552
"""Kinds of a library's parts: where its lists are, and what is closed to writing once it is loaded."""

_CALLS, _CALLS_BYTES, _STRINGS, _SYMBOLS, _ENTRIES, _ENTRIES_BYTES = 23, 2, 5, 6, 7, 8
"""Tags of the lists."""

_SYMBOL_BYTES: Final = 24


class _Part(ctypes.Structure):
    """``Elf64_Phdr``."""

    _fields_ = (
        ("kind", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("offset", ctypes.c_uint64),
        ("address", ctypes.c_uint64),
        ("physical", ctypes.c_uint64),
        ("in_file", ctypes.c_uint64),
        ("in_memory", ctypes.c_uint64),
        ("align", ctypes.c_uint64),
    )


class _Library(ctypes.Structure):
    """``struct dl_phdr_info``."""

    _fields_ = (
        ("base", ctypes.c_uint64),
        ("name", ctypes.c_char_p),
        ("parts", ctypes.POINTER(_Part)),
        ("count", ctypes.c_uint16),
        ("loads", ctypes.c_uint64),
        ("unloads", ctypes.c_uint64),
    )


_known: dict[tuple[int, bytes], dict[int, str]] = {}
"""By library, its entries."""

_last: dict[tuple[int, int], dict[int, str]] = {}
"""The entries of all libraries, by how often the process had loaded and unloaded one when they were read."""

_closed: set[int] = set()
"""Pages with entries that are closed to writing."""


@functools.cache
def c_library() -> Any:
    """The C library, and whatever else every library finds."""
    return ctypes.CDLL(None, use_errno=True)


def entries(names: Collection[str]) -> dict[int, str]:
    """Return the entries for functions of those names in all libraries that are loaded: address of each -> name.

    Args:
        names: the same in each call of a process.
    """
    here: list[tuple[int, bytes, list[tuple[int, int, int]]]] = []
    changes = (0, 0)

    def visit(library: Any, size: int, more: Any) -> int:
        nonlocal changes
        told = library.contents
        changes = told.loads, told.unloads
        if changes in _last:
            return 1  # nothing was loaded since: the rest need not be listed
        parts = [(p.kind, p.address, p.in_memory) for p in told.parts[: told.count]]
        here.append((told.base, told.name or b"", parts))
        return 0

    form = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Library), ctypes.c_size_t, ctypes.c_void_p)
    each = form(visit)
    c_library().dl_iterate_phdr(each, None)
    if changes in _last:
        return _last[changes]
    told: dict[int, str] = {}
    for base, name, parts in here:
        if not name or b"/numpy/" in name or os.path.basename(name).decode("utf-8", "replace").startswith(_KEEP_THEIRS):
            continue
        key = (base, name)
        if key not in _known:
            _known[key] = _library_slots(base, parts, names)
        told |= _known[key]
    _last.clear()
    _last[changes] = told
    return told


def _library_slots(base: int, parts: Iterable[tuple[int, int, int]], names: Collection[str]) -> dict[int, str]:
    import numpy as np

    tags: dict[int, int] = {}
    closed = range(0)
    for kind, address, size in parts:
        if kind == _DYNAMIC:
            pairs = (ctypes.c_uint64 * (size // 8)).from_address(base + address)
            tags = dict(zip(pairs[::2], pairs[1::2], strict=False))
        elif kind == _LOADED_ONCE:
            closed = range((base + address) & _PAGE, (base + address + size) & _PAGE)
    if not {_SYMBOLS, _STRINGS} <= tags.keys():
        return {}
    # The loader has made addresses of these; where it has not, they are counted from the library's beginning.
    at = {tag: value if value >= base else base + value for tag, value in tags.items()}
    told: dict[int, str] = {}
    for table, length in ((_CALLS, _CALLS_BYTES), (_ENTRIES, _ENTRIES_BYTES)):
        if not tags.get(length) or table not in tags:
            continue
        form = np.dtype([("offset", "<u8"), ("kind", "<u4"), ("symbol", "<u4"), ("addend", "<i8")])
        listed = np.frombuffer(memoryview((ctypes.c_char * tags[length]).from_address(at[table])), form)
        kinds = listed["kind"]
        known = (kinds == _KINDS[0]) | (kinds == _KINDS[1]) | (kinds == _KINDS[2])
        listed = listed[known & (listed["symbol"] > 0)]
        listed = listed[listed["addend"] == 0]
        if not listed.size:
            continue
        symbol_form = np.dtype([("name", "<u4"), ("kind", "<u2"), ("part", "<u2"), ("value", "<u8"), ("size", "<u8")])
        count = int(listed["symbol"].max()) + 1
        there = (ctypes.c_char * (count * _SYMBOL_BYTES)).from_address(at[_SYMBOLS])
        symbols = np.frombuffer(memoryview(there), symbol_form)
        listed = listed[symbols["part"][listed["symbol"]] == 0]  # functions of other libraries
        begins = symbols["name"][listed["symbol"]].tolist()
        words = {begin: ctypes.string_at(at[_STRINGS] + begin).decode("ascii", "replace") for begin in set(begins)}
        told |= {
            base + offset: words[begin]
            for offset, begin in zip(listed["offset"].tolist(), begins, strict=True)
            if words[begin] in names
        }
    _closed.update(page for at in told if (page := at & _PAGE) in closed)
    return told


_PAGE: Final = -mmap.PAGESIZE
"""What an address and it have in common is the address of the page."""

_entry = functools.cache(ctypes.c_uint64.from_address)
"""An entry in memory, by its address: each is read and written thousands of times."""


def read(addresses: Iterable[int]) -> dict[int, int]:
    """Return what stands in entries."""
    return {at: _entry(at).value for at in addresses}


def write(values: Mapping[int, int]) -> None:
    """Write into entries; pages that are closed to writing are closed again."""
    protect = c_library().mprotect
    protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    pages = {page for at in values if (page := at & _PAGE) in _closed}
    opened = {page for page in pages if not protect(page, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE)}
    for at, value in values.items():
        if (page := at & _PAGE) in opened or page not in _closed:
            _entry(at).value = value
    for page in opened:
        protect(page, mmap.PAGESIZE, mmap.PROT_READ)
