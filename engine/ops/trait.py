"""Traits of operators: what passes and shape inference may rely on."""

from __future__ import annotations

import enum


class Trait(enum.Flag):
    """Assumption about an operator that passes and shape inference may rely on."""

    NONE = 0
    UNARY = enum.auto()
    """One tensor in, one of the same spec out, element by element."""
    ELEMENTWISE = enum.auto()
    """Two tensors in, broadcast against each other, element by element."""
    COMPARE = enum.auto()
    """Like ELEMENTWISE, with a bool result."""
    RANDOM = enum.auto()
    """Draws random numbers: two runs differ, so it is never folded or merged."""
    LIKE = enum.auto()
    """Reads the shapes and dtypes of its inputs and not their values, which need not be kept alive for it."""
    INTERNAL = enum.auto()
    """Used in rules only; programs never hold it, so it has no place in the list of operators."""
    EFFECT = enum.auto()
    """Does something beside computing its results (prints, checks, calls the user's code): it always runs."""
    OPAQUE = enum.auto()
    """What it computes does not follow from what it reads: its outputs are what they were declared as."""
    VALUES = enum.auto()
    """The shape of its results, or what it does at all, depends on the values that it reads: it cannot be compiled for
    given shapes, and a backend that compiles computes it between compiled parts."""
    MOVES = enum.auto()
    """Elements of any type come out as they went in: moved, repeated or left out, and nothing computed with them."""
    VIEW = enum.auto()
    """Its results are views of its first operand also where tensors can be written in place: what is written to one is
    seen in the other, as in Paddle. Any kernel may return a view; of other operators dynamic mode copies it."""
    HOLOMORPHIC = enum.auto()
    """Takes complex numbers: a function with a complex derivative, whose rule gives this times the output's gradient.

    Conjugation is none of the rule's business then (``rare_types.py``).
    """
    COMPLEX = enum.auto()
    """Takes complex numbers, and the rule itself gives ``∂L/∂Re x + i·∂L/∂Im x``, as ``abs`` does."""
