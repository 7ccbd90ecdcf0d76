"""Tensor selectors: names, globs, ``layer:``, ``op:``, ``line:`` (product, section 2).

====================  ==================================================================================
selector              selects
====================  ==================================================================================
``my_fc.b_0``         the tensor of that name, Python name, or path of a parameter in its model
``my_fc.b_0@GRAD``    the tensor that the gradient belongs to
``blocks.*.w_0``      all tensors (for ``--params`` all parameters) that match
``layer:encoder.1``   the parameters of a layer
``op:relu``           what operators of that type make (for ``--params`` the parameters that they read);
                      ``op:relu.0`` the first one's, ``op:relu_grad`` what those compute gradients of
``line:model.py:21``  what that line made
``@names.txt``        selectors in a file, one a line
====================  ==================================================================================
"""

from __future__ import annotations

import fnmatch
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from gradtool.engine.core import names, source
from gradtool.engine.ir.operator import each
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.renew import called
from gradtool.engine.ir.variable import Parameter, Variable
from gradtool.engine.view.graph import op_names

from .errors import CommandError, unknown
from .notes import Notes

_SHOWN = 12
"""Matches that a note lists before it says how many more there are."""


class Named(Protocol):
    """Something that a selector selects."""

    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


class Selection(ABC, Generic[T]):
    """The forms of selectors; what each selects depends on the kind of model."""

    def select(self, option: str, texts: Iterable[str], out: Notes, *, parameters_only: bool = False) -> list[T]:
        """What the values of *option* select, each once, in the order of the values.

        Args:
            parameters_only: globs and the like select parameters only; a name may select any tensor.

        Raises:
            CommandError: a selector selects nothing, or a file of selectors cannot be read.
        """
        found: dict[T, None] = {}
        for text in texts:
            for one in self._split(text):
                matched = list(dict.fromkeys(self._one(option, one, parameters_only)))
                out.note(f"{option} {one} matched {listed([self.shown(v) for v in matched], out.verbose > 0)}")
                found.update(dict.fromkeys(matched))
        return list(found)

    def shown(self, v: T) -> str:
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
                raise CommandError(f"cannot read the selectors in {text[1:]}: {error}") from None
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
        if any(sign in text for sign in "*?["):
            return self._glob(option, text, parameters_only)
        raise unknown(f"tensor for {option}:", text, self._known(parameters_only))

    @abstractmethod
    def _exact(self, text: str) -> T | None:
        """What has this name."""

    @abstractmethod
    def _known(self, parameters_only: bool) -> list[str]:
        """Names to suggest, the likely ones first."""

    @abstractmethod
    def _glob(self, option: str, text: str, parameters_only: bool) -> list[T]: ...

    @abstractmethod
    def _layer(self, option: str, layer: str) -> list[T]: ...

    @abstractmethod
    def _op(self, option: str, text: str, parameters_only: bool) -> list[T]: ...

    @abstractmethod
    def _line(self, option: str, text: str, parameters_only: bool) -> list[T]: ...


class Selectors(Selection[Variable]):
    """Selectors over the variables of a program's block 0.

    Args:
        named: Python names that may stand for tensors.
    """

    def __init__(self, program: Program, named: Mapping[str, Variable]) -> None:
        self.block = program.global_block()
        self.variables = self.block.vars
        self.ops = program.global_block().ops
        self.paths = {p.layer_path: p for p in program.all_parameters() if p.layer_path}
        self.named = {n: v for n, v in named.items() if v.block.program is program}

    def _exact(self, text: str) -> Variable | None:
        for name in (text, text.removesuffix(names.GRAD)):
            found = called(self.block, name) or self.paths.get(name) or self.named.get(name)
            if found is not None:
                return found
        return None

    def _known(self, parameters_only: bool) -> list[str]:
        parameters = [v.name for v in self.variables.values() if v.is_parameter]
        rest = [] if parameters_only else [n for n in self.variables if n not in set(parameters)]
        return [*parameters, *self.paths, *self.named, *rest]

    def _glob(self, option: str, text: str, parameters_only: bool) -> list[Variable]:
        pattern = text.removesuffix(names.GRAD)
        everything = [*self.variables.items(), *self.paths.items()]
        found = [called(self.block, n) or v for n, v in everything if fnmatch.fnmatchcase(n, pattern)]
        found = [v for v in found if v.is_parameter or not parameters_only]
        if not found:
            what = "parameters" if parameters_only else "tensors"
            raise unknown(f"{what} for {option}:", text, self._known(parameters_only))
        return found

    def _layer(self, option: str, layer: str) -> list[Variable]:
        def inside(name: str | None) -> bool:
            return name is not None and name.startswith(layer + ".")

        parameters = [v for v in self.variables.values() if isinstance(v, Parameter)]
        found: list[Variable] = [p for p in parameters if inside(p.name) or inside(p.layer_path)]
        if not found:
            raise unknown(f"layer for {option}:", layer, {layer_of(p.layer_path or p.name) for p in parameters})
        return found

    def _op(self, option: str, text: str, parameters_only: bool) -> list[Variable]:
        named = op_names(self.ops)
        ops = [op for op, name in named.items() if text in (op.type, name)]
        read = parameters_only
        if not ops and names_gradient(text):
            forward = forward_type(text)
            ops, read = [op for op, name in named.items() if forward in (op.type, name)], True
        if not ops:
            raise unknown(f"operator for {option}:", text, [*{op.type for op in named}, *named.values()])
        found = [v for op in ops for v in each(op.inputs if read else op.outputs)]
        return self._only(option, f"op:{text}", found, parameters_only)

    def _line(self, option: str, text: str, parameters_only: bool) -> list[Variable]:
        file, _, line = text.rpartition(":")
        if not file or not line.isdigit():
            raise CommandError(f"{option} line:{text}: expected line:FILE:NUMBER")

        def there(v: Variable) -> bool:
            made = source.file_and_line(v.made_at)
            return made is not None and made[1] == int(line) and same_file(made[0], file)

        found = [v for v in self.variables.values() if there(v)]
        if not found:
            places = dict.fromkeys(source.short(v.made_at) for v in self.variables.values() if v.made_at)
            raise unknown(f"line for {option}:", text, places)
        return self._only(option, f"line:{text}", found, parameters_only)

    def _only(self, option: str, text: str, found: list[Variable], parameters_only: bool) -> list[Variable]:
        if not parameters_only:
            return found
        parameters = [v for v in found if v.is_parameter]
        if not parameters:
            raise CommandError(f"{option} {text}: no parameters there, only {listed([v.name for v in found])}")
        return parameters


def names_gradient(op_type: str) -> bool:
    """Whether *op_type* (or ``type.k``) is called like a gradient operator."""
    return op_type.partition(".")[0].endswith("_grad")


def forward_type(text: str) -> str:
    base, dot, number = text.partition(".")
    return base.removesuffix("_grad") + dot + number


def layer_of(name: str) -> str:
    return name.rpartition(".")[0] or name


def same_file(made: str, asked: str) -> bool:
    if source.called(made) == asked:
        return True
    made, asked = made.replace("\\", "/"), asked.replace("\\", "/")
    return made == asked or made.endswith("/" + asked) or asked.endswith("/" + made)


def listed(texts: list[str], everything: bool = False) -> str:
    if len(texts) <= _SHOWN or everything:
        return ", ".join(texts)
    return f"{', '.join(texts[:_SHOWN])} and {len(texts) - _SHOWN} more (-v lists all)"
