"""Data classes with shared methods behave as the standard library's."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import pickle
from dataclasses import field
from typing import Any

import pytest

from gradtool.engine.core.records import dataclass


def declare(decorator: Any, name: str, **flags: Any) -> Any:
    """Return a class of three fields, one compared and not shown, one shown and not compared."""
    body: dict[str, Any] = {
        "__annotations__": {"x": "int", "hidden": "int", "noted": "str", "items": "list[int]"},
        "__module__": __name__,
        "hidden": field(default=0, repr=False),
        "noted": field(default="", compare=False),
        "items": field(default_factory=list, compare=False, kw_only=True),
    }
    return decorator(**flags)(type(name, (), body))


FLAGS = [
    dict(zip(("frozen", "slots", "eq", "repr", "kw_only"), values, strict=True))
    for values in itertools.product((False, True), repeat=5)
]
CLASSES = {
    i: (declare(dataclass, f"Ours{i}", **flags), declare(dataclasses.dataclass, f"Theirs{i}", **flags))
    for i, flags in enumerate(FLAGS)
}
globals().update({cls.__name__: cls for pair in CLASSES.values() for cls in pair})  # pickle finds classes by name


def observe(cls: Any) -> list[Any]:
    """Return what a class gives for a few objects: comparisons, hashes, text, copies and fields."""
    a, b, c = cls(x=1), cls(x=1, noted="other", items=[1]), cls(x=1, hidden=2)
    told: list[Any] = [a == b, a == c, a != c, a == (1, 0), cls.__hash__ is None]
    if cls.__hash__ is not None and "__hash__" in cls.__dict__:
        told += [hash(a) == hash(b), len({a, b, c})]
    if "__repr__" in cls.__dict__:
        told.append(repr(b).replace(cls.__qualname__, "T"))
    told += [f.name for f in dataclasses.fields(cls)]
    for other in (copy.copy(b), copy.deepcopy(b), pickle.loads(pickle.dumps(b)), dataclasses.replace(b, x=1)):
        told += [dataclasses.astuple(other), other == b if cls.__eq__ is not object.__eq__ else type(other) is cls]
    return told


@pytest.mark.parametrize("index", CLASSES, ids=[",".join(k for k, v in f.items() if v) or "none" for f in FLAGS])
def test_flags_mean_what_they_mean_there(index: int) -> None:
    ours, theirs = CLASSES[index]
    assert observe(ours) == observe(theirs)


def test_own_methods_stay() -> None:
    @dataclass(frozen=True)
    class Caseless:
        text: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Caseless) and self.text.lower() == other.text.lower()

        def __hash__(self) -> int:
            return hash(self.text.lower())

        def __repr__(self) -> str:
            return f"<{self.text}>"

    assert Caseless("A") == Caseless("a")
    assert len({Caseless("A"), Caseless("a")}) == 1
    assert repr(Caseless("A")) == "<A>"


def test_an_equality_of_its_own_without_a_hash_has_the_shared_hash_of_a_frozen_class() -> None:
    def declare_one(decorator: Any) -> Any:
        class One:
            x: int

            def __eq__(self, other: object) -> bool:
                return True

        return decorator(frozen=True)(One)

    ours, theirs = declare_one(dataclass), declare_one(dataclasses.dataclass)
    assert (ours.__hash__ is None) == (theirs.__hash__ is None)


def test_a_class_compares_with_its_own_kind_alone() -> None:
    @dataclass(frozen=True)
    class Base:
        x: int

    @dataclass(frozen=True)
    class More(Base):
        y: int = 0

    assert Base(1) != More(1)
    assert More(1) == More(1, 0)
    assert repr(More(1)).endswith("More(x=1, y=0)")


def test_text_of_what_holds_itself_ends() -> None:
    @dataclass
    class Node:
        inner: list[Any]

    node = Node([])
    node.inner.append(node)
    assert repr(node).endswith("Node(inner=[...])")


def test_a_class_without_fields_has_one_value() -> None:
    @dataclass(frozen=True, slots=True)
    class Empty: ...

    assert Empty() == Empty()
    assert len({Empty(), Empty()}) == 1
    assert repr(Empty()).endswith("Empty()")
