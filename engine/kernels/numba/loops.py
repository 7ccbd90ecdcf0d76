"""NumPy's inner loops: the functions that a ufunc calls for a row of numbers, the best that NumPy has for this CPU.

They are what makes compiled code equal to NumPy where numbers are rounded in ways of their own: a group computes
``exp`` with the very function that ``numpy.exp`` calls, and adds rows up by the one that ``numpy.add.reduce`` calls
(pairwise).
Every ufunc is a C structure that lists them (``PyUFuncObject``, part of NumPy's stable interface).
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import NamedTuple

import numpy as np


class _Ufunc(ctypes.Structure):
    _fields_ = (
        ("references", ctypes.c_ssize_t),
        ("type", ctypes.c_void_p),
        ("nin", ctypes.c_int),
        ("nout", ctypes.c_int),
        ("nargs", ctypes.c_int),
        ("identity", ctypes.c_int),
        ("functions", ctypes.POINTER(ctypes.c_void_p)),
        ("data", ctypes.POINTER(ctypes.c_void_p)),
        ("ntypes", ctypes.c_int),
        ("reserved", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("types", ctypes.POINTER(ctypes.c_char)),
    )


PRODUCTS = {"vecdot": "(n),(n)->()"}
"""Ufuncs over rows, whose loop is told the length of a row and how far its elements lie apart."""


class NoLoop(Exception):
    """There is no such loop, or the structure is not what it is in the NumPy that this was written for."""


class NativeLoop(NamedTuple):
    """Addresses of a function and of what it is called with; ufunc and types say which it is."""

    function: int
    data: int


@cache
def inner_loop(ufunc: str, types: str) -> NativeLoop:
    """The loop of that ufunc for *types*, such as ``ff->f``.

    Raises:
        NoLoop: there is none.
    """
    function = getattr(np, ufunc, None)
    if not isinstance(function, np.ufunc) or types not in function.types or function.signature != PRODUCTS.get(ufunc):
        raise NoLoop(f"{ufunc} {types}")
    fields = _Ufunc.from_address(id(function))
    expected = (function.nin, function.nout, function.nargs, function.ntypes)
    if (fields.nin, fields.nout, fields.nargs, fields.ntypes) != expected or fields.name != ufunc.encode():
        raise NoLoop("another structure")
    at = function.types.index(types)
    numbers = [np.dtype(t).num for t in types.replace("->", "")]
    listed = [fields.types[at * function.nargs + i][0] for i in range(function.nargs)]
    address = fields.functions[at]
    if listed != numbers or not address:
        raise NoLoop("another structure")
    return NativeLoop(address, fields.data[at] or 0)
