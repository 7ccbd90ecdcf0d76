"""Arrays by name in a zip archive (``.npz``), as ``np.savez`` writes them, and the lone array of an ``.npy`` file.

Everything that the archive says of itself is checked before a byte of an array is read: members that overlap or lie
outside the file, names that come twice, sizes that cannot be. No name becomes a path.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, NoReturn

from ..core.command_errors import CommandError, Unreadable
from ..files.jsontext import shorten_value
from ..files.zip_members import DEFLATED, MOST_INFLATED, STORED, Fail, Member, Unpacked, ZipArchive
from . import npy
from .npy import Array

Room = Callable[[str | None], int | None]
"""Of an array's name, None for the lone one: how many bytes it may have; None where nothing is known."""


@contextmanager
def report_errors(path: str, error: type[CommandError] = Unreadable) -> Iterator[Fail]:
    """Inside, what is wrong with the file at *path* is an *error*; gives what says so of its contents."""

    def fail(why: str) -> NoReturn:
        raise error(f"{path} is no .npz file of plain arrays: {why}", "np.savez(FILE, x=…) writes one")

    try:
        yield fail
    except OSError as refused:
        raise error(f"cannot read {path}: {refused.strerror or refused}") from None


@contextmanager
def _open(path: str) -> Iterator[tuple[BinaryIO, int, bool]]:
    """The file at *path*, how many bytes it has, and whether it is one array (``.npy``)."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        start = file.read(6)
        file.seek(0)
        yield file, size, start == npy.MAGIC


def read(path: str, room: Room, fail: Fail) -> dict[str | None, Array]:
    """The arrays in the file at *path*, by name; that of an ``.npy`` file under None.

    Args:
        room: called for every array before any is read; it may raise, too.
        fail: raises what is wrong with the file.

    Raises:
        OSError: the file cannot be read.
    """
    with _open(path) as (file, size, is_one):
        return {None: _lone(file, size, room, fail)} if is_one else _Arrays(file, size, fail).arrays(room)


def map_arrays(path: str, fail: Fail) -> dict[str | None, Array]:
    """As :func:`read`, but what is stored without compression is read when it is looked at; its checksum is not.

    Raises:
        OSError: the file cannot be read.
    """
    with _open(path) as (file, size, is_one):
        if is_one:
            head = _head(file, size, fail)
            return {None: npy.map_array(path, head, head.length)}
        return _Arrays(file, size, fail).map_arrays(path)


def _head(file: BinaryIO, size: int, fail: Fail) -> npy.Header:
    """Read the header of an ``.npy`` file whose array is all there."""
    head = npy.header(file, fail)
    if head.nbytes != size - head.length:
        fail(f"it is cut short or was changed: {head.nbytes} bytes are declared, and {size - head.length} are there")
    return head


def _lone(file: BinaryIO, size: int, room: Room, fail: Fail) -> Array:
    head = _head(file, size, fail)
    _check_room(head, room(None), fail)
    return npy.elements(file, head, fail)


def _check_room(head: npy.Header, most: int | None, fail: Fail) -> None:
    if most is not None and head.nbytes > most:
        fail(f"it declares {head.nbytes} bytes, of shape {list(head.shape)}, and what it is for has room for {most}")


class _Arrays(ZipArchive):
    def __init__(self, file: BinaryIO, size: int, fail: Fail) -> None:
        super().__init__(file, size, fail, "np.savez and np.savez_compressed use 0 and 8")

    def arrays(self, room: Room) -> dict[str | None, Array]:
        members = list(self.members())
        names = [m.name.removesuffix(".npy") for m in members]
        (often, times), *_ = [*Counter(names).most_common(1), ("", 0)]
        if times > 1:
            self.fail(f"it holds {shorten_value(often)} {times} times")
        rooms = [room(name) for name in names]
        places = self.places(members)
        inflated = sum(m.size for m in members if m.method == DEFLATED)
        if inflated > MOST_INFLATED:
            self.fail(
                f"{inflated} bytes are compressed in it: {MOST_INFLATED} are read at most (np.savez compresses none)"
            )
        heads = [self.header(*entry) for entry in zip(members, places, rooms, strict=True)]
        return {n: self.array(m, p, h) for n, m, p, h in zip(names, members, places, heads, strict=True)}

    def map_arrays(self, path: str) -> dict[str | None, Array]:
        """As :meth:`arrays`, of whatever size; stored members are read when they are looked at."""
        members = list(self.members())
        names = [m.name.removesuffix(".npy") for m in members]
        (often, times), *_ = [*Counter(names).most_common(1), ("", 0)]
        if times > 1:
            self.fail(f"it holds {shorten_value(often)} {times} times")
        told: dict[str | None, Array] = {}
        for name, member, place in zip(names, members, self.places(members), strict=True):
            head = self.header(member, place, None)
            whole = member.method != STORED
            told[name] = self.array(member, place, head) if whole else npy.map_array(path, head, place + head.length)
        return told

    def header(self, member: Member, place: int, room: int | None) -> npy.Header:
        fail = self.fail_in(member)
        head = npy.header(Unpacked(self.file, member, place, fail), fail)
        if head.length + head.nbytes != member.size:
            fail(f"it declares {head.nbytes} bytes, of shape {list(head.shape)}, and has {member.size - head.length}")
        _check_room(head, room, fail)
        return head

    def array(self, member: Member, place: int, head: npy.Header) -> Array:
        fail = self.fail_in(member)
        stream = Unpacked(self.file, member, place, fail)
        stream.read(head.length)
        array = npy.elements(stream, head, fail)
        stream.finish()
        return array
