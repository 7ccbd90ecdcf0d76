"""Tensor selectors: names, globs, ``layer:``, ``op:``, ``line:`` (product, section 2).

====================  ==================================================================================
selector              selects
====================  ==================================================================================
``my_fc.b_0``         the tensor of that name, Python name, or path of a parameter in its model
``my_fc.b_0@GRAD``    the tensor that the gradient belongs to
``blocks.*.w_0``      all tensors that match; for ``--params`` and ``--no-grad`` all parameters
``tensor:blocks.*``   all tensors that match, whatever the option
``layer:encoder.1``   the parameters of a layer
``op:relu``           what operators of that type make (for ``--params`` the parameters that they read);
                      ``op:relu.0`` the first one's, ``op:relu_grad`` what those compute gradients of
``line:model.py:21``  what that line made
``@names.txt``        selectors in a file, one a line
====================  ==================================================================================
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from ..core import source
from ..core.command_errors import CommandError, Unreadable, unknown
from ..core.notes import Notes

_OF_PARAMETERS = ("--params", "--no-grad")
"""Options whose globs mean parameters: who freezes ``my_fc.*`` does not think of its results."""

_KINDS = ("layer", "op", "line", "tensor")
"""What may stand before a colon."""

_SHOWN = 12
"""Matches that a note lists before it says how many more there are."""


class Named(Protocol):
    """Something that a selector selects."""

    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


class SelectorForms(ABC, Generic[T]):
    """The forms of selectors; what each selects depends on the kind of model."""

    def select(self, option: str, texts: Iterable[str], out: Notes, *, parameters_only: bool = False) -> list[T]:
        """Return the tensors that the values of *option* select, each once, in the order of the values.

        Args:
            parameters_only: globs and the like select parameters only; a name may select any tensor.

        Raises:
            CommandError: a selector selects nothing, or a file of selectors cannot be read.
        """
        matches: dict[T, None] = {}
        for text in texts:
            for one in self._split(text):
                matched = list(dict.fromkeys(self._one(option, one, parameters_only)))
                names = join_matches([self.display_name(v) for v in matched], out.verbose > 0)
                out.note(f"{option} {one} matched {names}{self._tensor_hint(option, one, matched)}")
                matches.update(dict.fromkeys(matched))
        return list(matches)

    def _tensor_hint(self, option: str, text: str, matched: list[T]) -> str:
        """Return a hint about the tensors that a glob would match as well."""
        if option not in _OF_PARAMETERS or not _is_glob(text) or text.partition(":")[0] in _KINDS:
            return ""
        others = len({*self._match_glob(text, parameters_only=False)} - {*matched})
        return f" · tensor:{text} matches {others} more" if others else ""

    def display_name(self, v: T) -> str:
        """The name that people know it by."""
        return v.name

    def _split(self, text: str) -> Iterator[str]:
        if self._exact(text) is not None:
            yield text
            return
        if text.startswith("@"):
            try:
                lines = Path(text[1:]).read_text(encoding="utf-8").splitlines()
            except (OSError, UnicodeDecodeError) as error:
                raise Unreadable(f"cannot read the selectors in {text[1:]}: {error}") from None
            yield from (line.strip() for line in lines if line.strip() and not line.startswith("#"))
            return
        yield from (part.strip() for part in text.split(",") if part.strip())

    def _one(self, option: str, text: str, parameters_only: bool) -> Iterable[T]:
        exact = self._exact(text)
        if exact is not None:
            return [exact]
        kind, colon, value = text.partition(":")
        if colon and kind == "layer":
            return self._layer(option, value)
        if colon and kind == "op":
            return self._op(option, value, parameters_only)
        if colon and kind == "line":
            return self._line(option, value, parameters_only)
        if colon and kind == "tensor":
            return self._tensor(option, value)
        if _is_glob(text):
            return self._glob(option, text, parameters_only or option in _OF_PARAMETERS)
        raise unknown(f"tensor for {option}:", text, self._suggestions(parameters_only))

    def _tensor(self, option: str, text: str) -> list[T]:
        exact = self._exact(text)
        if exact is not None:
            return [exact]
        if _is_glob(text):
            return self._glob(option, text, parameters_only=False)
        raise unknown(f"tensor for {option}:", text, self._suggestions(parameters_only=False))

    @abstractmethod
    def _exact(self, text: str) -> T | None:
        """Return the tensor of this name."""

    @abstractmethod
    def _suggestions(self, parameters_only: bool) -> list[str]:
        """Names to suggest, the likely ones first."""

    def _glob(self, option: str, text: str, parameters_only: bool) -> list[T]:
        matching = self._match_glob(text, parameters_only)
        if matching:
            return matching
        others = self._match_glob(text, parameters_only=False)
        if others:
            names = join_matches([self.display_name(v) for v in others])
            raise CommandError(f"no parameter for {option} matches {text!r}", f"tensor:{text} matches {names}")
        what = "parameters" if parameters_only else "tensors"
        raise unknown(f"{what} for {option}:", text, self._suggestions(parameters_only))

    @abstractmethod
    def _match_glob(self, text: str, parameters_only: bool) -> list[T]:
        """Return the tensors that a glob matches, each once; the names of gradients stand for their tensors."""

    @abstractmethod
    def _layer(self, option: str, layer: str) -> list[T]: ...

    @abstractmethod
    def _op(self, option: str, text: str, parameters_only: bool) -> list[T]: ...

    @abstractmethod
    def _line(self, option: str, text: str, parameters_only: bool) -> list[T]: ...


def _is_glob(text: str) -> bool:
    return any(sign in text for sign in "*?[")


def names_gradient(op_type: str) -> bool:
    """Return whether *op_type* (or ``type.k``) is called like a gradient operator."""
    return op_type.partition(".")[0].endswith("_grad")


def forward_type(text: str) -> str:
    """``relu.0`` of ``relu_grad.0``."""
    base, dot, number = text.partition(".")
    return base.removesuffix("_grad") + dot + number


def layer_of(name: str) -> str:
    """The layer in the path of a parameter."""
    return name.rpartition(".")[0] or name


def same_file(made: str, asked: str) -> bool:
    """Return whether the file that *made* something is the one that is *asked* for, which may be a part of its path."""
    if source.display_path(made) == asked:
        return True
    made, asked = made.replace("\\", "/"), asked.replace("\\", "/")
    return made == asked or made.endswith("/" + asked) or asked.endswith("/" + made)


def join_matches(texts: list[str], everything: bool = False) -> str:
    """Matches in a row, the first of them if there are many."""
    if len(texts) <= _SHOWN or everything:
        return ", ".join(texts)
    return f"{', '.join(texts[:_SHOWN])} and {len(texts) - _SHOWN} more (-v lists all)"
