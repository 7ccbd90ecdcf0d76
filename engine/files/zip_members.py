"""Files in a zip archive, whoever wrote it.

Everything that the archive says of itself is checked before a byte of a file in it is read: members that overlap or lie
outside the file, sizes that cannot be. No name becomes a path.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple, NoReturn

from .jsontext import shorten_value

Fail = Callable[[str], NoReturn]
"""Raises what is wrong with the file."""

MOST_INFLATED = 2**30
"""Bytes of compressed members that are read at most: what is compressed can be a thousand times its file."""

_DIRECTORY_END = struct.Struct("<4s4H2LH")
_LOCATOR = struct.Struct("<4sLQL")
_DIRECTORY_END_64 = struct.Struct("<4sQ2H2L4Q")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_LONGEST_COMMENT = 0xFFFF
_LARGEST_DIRECTORY = 2**26
STORED, DEFLATED = 0, 8
_ENCRYPTED, _UTF8 = 0x1, 0x800
_FULL = 0xFFFFFFFF
_BEST_RATIO = 1040
"""How many bytes deflate can make of one: a little more than the format allows."""
_AT_ONCE = 1 << 16


class Member(NamedTuple):
    """A file in the archive.

    Attributes:
        packed: its bytes as they are stored.
        size: its bytes.
        crc: their checksum.
        begin: where its own header begins.
    """

    name: str
    method: int
    crc: int
    packed: int
    size: int
    begin: int


class ZipArchive:
    """The members of an archive.

    Args:
        size: how many bytes *file* has.
        fail: raises what is wrong with it.
        writers: what writes such archives, and how, for the message about other kinds of compression.
    """

    def __init__(self, file: BinaryIO, size: int, fail: Fail, writers: str) -> None:
        self.file = file
        self.size = size
        self.fail = fail
        self.writers = writers

    def fail_in(self, member: Member) -> Fail:
        """Return a function that reports a fault of one member."""
        return lambda why: self.fail(f"of {shorten_value(member.name)}, {why}")

    def contents(self, member: Member, place: int) -> bytes:
        """The bytes of one member, which begin at *place*."""
        stream = Unpacked(self.file, member, place, self.fail_in(member))
        data = stream.read(member.size)
        stream.finish()
        return data

    # -- what the archive says of itself --------------------------------------------------------------------------

    def unpack(self, form: struct.Struct, at: int, magic: bytes, what: str) -> tuple[int, ...]:
        """The numbers of the record at byte *at* of the file."""
        if not 0 <= at <= self.size - form.size:
            self.fail(f"{what} would be at byte {at}, and the file has {self.size}")
        self.file.seek(at)
        data = self.file.read(form.size)
        if len(data) < form.size or data[:4] != magic:
            self.fail(f"there is no {what} at byte {at}")
        return form.unpack(data)[1:]

    def directory(self) -> tuple[int, int, int]:
        """Number of entries, bytes and place of the directory."""
        begin = max(0, self.size - _DIRECTORY_END.size - _LONGEST_COMMENT)
        self.file.seek(begin)
        tail = self.file.read(self.size - begin)
        at = tail.rfind(b"PK\5\6")
        if at < 0:
            self.fail("it is no zip archive, or it is cut short")
        at += begin
        *_, count, length, place, comment = self.unpack(_DIRECTORY_END, at, b"PK\5\6", "end of the directory")
        if at + _DIRECTORY_END.size + comment != self.size:
            self.fail("something follows the end of its directory")
        if _FULL in (length, place) or count == 0xFFFF:
            locator = self.unpack(_LOCATOR, at - _LOCATOR.size, b"PK\6\7", "place of the directory's end")
            at = locator[1]
            *_, count, length, place = self.unpack(_DIRECTORY_END_64, at, b"PK\6\6", "end of the directory")
        if length > _LARGEST_DIRECTORY or count * _ENTRY.size > length or place + length > at:
            self.fail(f"its directory of {count} entries, {length} bytes at byte {place}, cannot be")
        return count, length, place

    def members(self) -> Iterator[Member]:
        """The entries of the directory."""
        count, length, place = self.directory()
        self.end = place
        self.file.seek(place)
        data = self.file.read(length)
        at = 0
        for _ in range(count):
            if len(data) - at < _ENTRY.size or data[at : at + 4] != b"PK\1\2":
                self.fail("its directory is cut short or was changed")
            entry = _ENTRY.unpack_from(data, at)
            flags, method, crc, packed, size = entry[3], entry[4], entry[7], entry[8], entry[9]
            begin = entry[16]
            after = at + _ENTRY.size
            lengths = entry[10:13]
            if len(data) - after < sum(lengths):
                self.fail("its directory is cut short or was changed")
            name = self.name(data[after : after + lengths[0]], flags)
            extra = data[after + lengths[0] : after + lengths[0] + lengths[1]]
            size, packed, begin = self.wide(name, extra, [size, packed, begin])
            at = after + sum(lengths)
            if flags & _ENCRYPTED:
                self.fail(f"{shorten_value(name)} is encrypted")
            if method not in (STORED, DEFLATED):
                self.fail(f"{shorten_value(name)} is compressed by method {method}: {self.writers}")
            if (method == STORED and packed != size) or size > packed * _BEST_RATIO + 64:
                self.fail(f"{shorten_value(name)} cannot have {size} bytes: {packed} are stored")
            yield Member(name, method, crc, packed, size, begin)
        if at != length:
            self.fail("its directory is longer than its entries")

    def name(self, data: bytes, flags: int) -> str:
        try:
            return data.decode("utf-8" if flags & _UTF8 else "cp437")
        except UnicodeDecodeError:
            self.fail(f"{shorten_value(data)} in it is no name in UTF-8")

    def wide(self, name: str, extra: bytes, numbers: list[int]) -> list[int]:
        """Size, stored size and place, those that need more than 32 bits from the fields behind the name."""
        at = 0
        while at + 4 <= len(extra):
            kind, length = struct.unpack_from("<2H", extra, at)
            if kind == 1:
                field = extra[at + 4 : at + 4 + length]
                missing = [i for i, n in enumerate(numbers) if n == _FULL]
                if len(field) < 8 * len(missing):
                    self.fail(f"the size of {shorten_value(name)} is cut short")
                for i, place in enumerate(missing):
                    (numbers[place],) = struct.unpack_from("<Q", field, 8 * i)
            at += 4 + length
        return numbers

    def places(self, members: list[Member]) -> list[int]:
        """Return where the bytes of each member begin; none may reach into another or into the directory."""
        begin_of: dict[int, int] = {}
        end = 0
        for member in sorted(members, key=lambda m: m.begin):
            if member.begin < end:
                self.fail(f"{shorten_value(member.name)} lies over another member")
            local = self.unpack(_LOCAL, member.begin, b"PK\3\4", f"member {shorten_value(member.name)}")
            begin = member.begin + _LOCAL.size + local[-2] + local[-1]
            end = begin + member.packed
            if end > self.end:
                self.fail(f"{shorten_value(member.name)} would reach to byte {end}, into what follows byte {self.end}")
            begin_of[member.begin] = begin
        return [begin_of[m.begin] for m in members]


class Unpacked:
    """The bytes of one member, in order; no more of them than it declares."""

    def __init__(self, file: BinaryIO, member: Member, place: int, fail: Fail) -> None:
        self.file = file
        self.member = member
        self.fail = fail
        self.place = place
        self.left = member.packed
        self.size = member.size
        self.crc = 0
        self.inflater = zlib.decompressobj(-zlib.MAX_WBITS) if member.method == DEFLATED else None

    def read(self, count: int, /) -> bytes:
        count = min(count, self.size)
        parts = []
        while count:
            part = self.stored(count) if self.inflater is None else self.inflate(count)
            if not part:
                break
            parts.append(part)
            self.crc = zlib.crc32(part, self.crc)
            self.size -= len(part)
            count -= len(part)
        return b"".join(parts)

    def stored(self, count: int) -> bytes:
        self.file.seek(self.place)
        part = self.file.read(min(count, self.left))
        self.place += len(part)
        self.left -= len(part)
        return part

    def inflate(self, count: int) -> bytes:
        inflater = self.inflater
        assert inflater is not None
        part = b""
        while not part and not inflater.eof:
            data = inflater.unconsumed_tail or self.stored(_AT_ONCE)
            try:
                part = inflater.decompress(data, count)
            except zlib.error as error:
                self.fail(f"what is compressed was changed ({error})")
            if not data:
                break
        return part

    def finish(self) -> None:
        """Once all is read: was it what was written?"""
        if self.size or self.crc != self.member.crc:
            self.fail("the checksum is wrong: it was changed")
