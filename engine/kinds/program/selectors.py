"""Selectors over the variables of a program: the forms of ``selection.py``."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from itertools import chain

from ...core import names, source
from ...core.command_errors import CommandError, unknown
from ...ir.operator import Operator, each
from ...ir.program import Program
from ...ir.renew import find_named
from ...ir.variable import Parameter, Variable
from ...view.graph import op_names
from ..selection import SelectorForms, forward_type, join_matches, layer_of, names_gradient, same_file
from .model import ProgramModel


def select_in(model: ProgramModel) -> Selectors:
    """Return the selectors over the variables of a model's program."""
    return Selectors(model.program, model.named)


class Selectors(SelectorForms[Variable]):
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
            variable = find_named(self.block, name) or self.paths.get(name) or self.named.get(name)
            if variable is not None:
                return variable
        return None

    def _suggestions(self, parameters_only: bool) -> list[str]:
        parameters = [v.name for v in self.variables.values() if v.is_parameter]
        rest = [] if parameters_only else [n for n in self.variables if n not in set(parameters)]
        return [*parameters, *self.paths, *self.named, *rest]

    def _match_glob(self, text: str, parameters_only: bool) -> list[Variable]:
        pattern = text.removesuffix(names.GRAD)
        everything = [*self.variables.items(), *self.paths.items()]
        variables = [find_named(self.block, n) or v for n, v in everything if fnmatch.fnmatchcase(n, pattern)]
        return [*dict.fromkeys(v for v in variables if v.is_parameter or not parameters_only)]

    def _layer(self, option: str, layer: str) -> list[Variable]:
        def is_inside(name: str | None) -> bool:
            return name is not None and name.startswith(layer + ".")

        parameters = [v for v in self.variables.values() if isinstance(v, Parameter)]
        variables: list[Variable] = [p for p in parameters if is_inside(p.name) or is_inside(p.layer_path)]
        if not variables:
            raise unknown(f"layer for {option}:", layer, {layer_of(p.layer_path or p.name) for p in parameters})
        return variables

    def _op(self, option: str, text: str, parameters_only: bool) -> list[Variable]:
        ops, read = self._match_name(text), parameters_only
        if not ops and names_gradient(text):
            ops, read = self._match_name(forward_type(text)), True
        if not ops:
            named = op_names(self.ops)
            raise unknown(f"operator for {option}:", text, [*{op.type for op in named}, *named.values()])
        variables = chain.from_iterable(each(op.inputs if read else op.outputs) for op in ops)
        return self._only(option, f"op:{text}", [*variables], parameters_only)

    def _match_name(self, text: str) -> list[Operator]:
        """The operators of that type or name."""
        return [op for op, name in op_names(self.ops).items() if text in (op.type, name)]

    def _line(self, option: str, text: str, parameters_only: bool) -> list[Variable]:
        file, _, line = text.rpartition(":")
        if not file or not line.isdigit():
            raise CommandError(f"{option} line:{text}: expected line:FILE:NUMBER")

        def there(v: Variable) -> bool:
            made = source.file_and_line(v.made_at)
            return made is not None and made[1] == int(line) and same_file(made[0], file)

        variables = [v for v in self.variables.values() if there(v)]
        if not variables:
            places = dict.fromkeys(source.short(v.made_at) for v in self.variables.values() if v.made_at)
            raise unknown(f"line for {option}:", text, places)
        return self._only(option, f"line:{text}", variables, parameters_only)

    def _only(self, option: str, text: str, variables: list[Variable], parameters_only: bool) -> list[Variable]:
        if not parameters_only:
            return variables
        parameters = [v for v in variables if v.is_parameter]
        if not parameters:
            raise CommandError(
                f"{option} {text}: no parameters there, only {join_matches([v.name for v in variables])}"
            )
        return parameters
