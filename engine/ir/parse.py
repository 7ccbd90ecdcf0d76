"""Reading a program back from its text (``text.py`` says how it is printed).

The text says neither which variables are fed nor how optimizers treat a parameter. A dense variable of block 0 that
no operator writes before it is read and that does not live in the scope is taken as fed; parameters get the default
settings.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from ..core.collector import pause_gc
from ..core.errors import GradtoolError, ProgramError
from ..core.spec import TensorSpec
from ..ops.opdef import OpDef
from . import arrays, roles
from .assemble import assemble, block_at, check_attribute, check_blocks, definition, new_block
from .checking import check_program
from .operator import COMMON, Operator
from .program import Block, Program
from .text import BARE_NAME, BARE_TEXT, BARE_WORD, TENSORS, is_text
from .variable import DENSE, Parameter, Variable
from .verify import verify_read


class ProgramTextError(ProgramError, ValueError):
    """A text that is no program; the message begins with the line."""

    code = "GT-E111"


def parse_program(text: str) -> Program:
    """The program that prints as *text*.

    Raises:
        ProgramTextError: the text is malformed, or names an operator, slot, attribute or variable that does not exist;
            says in which line.
    """
    if not isinstance(text, str):
        raise ProgramTextError(f"a program is read from its text, but received {type(text).__name__}.")
    with pause_gc():
        program = Program()
        program.blocks = []
        lines = [(n, t) for n, line in enumerate(text.split("\n"), start=1) if (t := line.strip())]
        for number, line in lines:
            if line.startswith("{ //"):
                _header(
                    _LineReader(line, number), program
                )  # all of them first: an operator may name a block that follows
        _fill(program, lines)
        if not program.blocks:
            raise ProgramTextError("the text holds no block: a program begins with '{ // block_idx:0 …'.")
        try:
            check_blocks(program)
            arrays.complete_specs(program)
            complete(program)
            verify_read(program)
        except ProgramError as error:
            raise ProgramTextError(error.message) from None
        return check_program(program, "parsing")


def _fill(program: Program, lines: Sequence[tuple[int, str]]) -> None:
    """Read what stands between the headers of blocks and their ends."""
    todo = iter(program.blocks)
    block: Block | None = None
    for number, line in lines:
        reader = _LineReader(line, number)
        if block is None:
            reader.take(_HEADER, _HEADER_FORM)
            block = next(todo)
        elif line == "}":
            block = None
        elif (start := _VARIABLE.match(line)) is not None:
            _variable(reader, block, start)
        else:
            block._append(_Statement(reader, block).operator())
    if block is not None:
        raise ProgramTextError(f"the text ends inside block {block.idx}: '}}' is missing.")


# -- lines --------------------------------------------------------------------------------------------------------

_HEADER = re.compile(r"\{ // block_idx:(\d+) +parent_idx:(-?\d+) +forward_idx:(-?\d+) +backward_idx:(-?\d+)")
_HEADER_FORM = "'{ // block_idx:… parent_idx:… forward_idx:… backward_idx:…'"
_VARIABLE = re.compile(r"(persist )?(trainable param|param|var) ")
_TENSOR = re.compile(r"\.shape\(((?:-?\d+(?:, -?\d+)*,?)?)\)\.dtype\((\w+)\)\.stop_gradient\((True|False)\)")
_LITERAL = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_NUMBER = re.compile(r"-?(?:\d+(\.\d*)?(e[-+]?\d+)?|inf)|nan|True|False|None")
_COMPLEX = re.compile(r"\((?:-?(?:[\d.]+(?:e[-+]?\d+)?|inf|nan)[-+])?-?(?:[\d.]+(?:e[-+]?\d+)?|inf|nan)j\)")
_FORMER_NAMES = {"LOD_TENSOR": DENSE}
"""Kinds of variables that Paddle printed under another name before 3.0."""


class _LineReader:
    """One line, read from left to right."""

    __slots__ = ("at", "number", "text")

    def __init__(self, text: str, number: int) -> None:
        self.text = text
        self.number = number
        self.at = 0

    def fail(self, problem: str, hint: str | None = None) -> NoReturn:
        raise ProgramTextError(f"line {self.number}: {problem}.", hint=hint)

    @contextmanager
    def name_line_in_errors(self) -> Iterator[None]:
        """Name the line in errors about what it says."""
        try:
            yield
        except GradtoolError as error:
            self.fail(error.message.removesuffix("."), error.hint)

    def fail_expecting(self, what: str) -> NoReturn:
        rest = self.text[self.at : self.at + 20]
        self.fail(f"{what} is expected at column {self.at + 1}, but the line goes on with {rest!r}")

    def take(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        match = pattern.match(self.text, self.at)
        if match is None:
            self.fail_expecting(what)
        self.at = match.end()
        return match

    def skip(self, literal: str) -> None:
        if not self.accept(literal):
            self.fail_expecting(repr(literal))

    def accept(self, literal: str) -> bool:
        """Return whether *literal* comes next; passes over it."""
        there = self.text.startswith(literal, self.at)
        if there:
            self.at += len(literal)
        return there

    def end(self) -> None:
        if self.at != len(self.text):
            self.fail_expecting("the end of the line")

    def string(self, bare: re.Pattern[str] | None, what: str) -> str:
        """A quoted string, or one that *bare* takes."""
        match = _LITERAL.match(self.text, self.at)
        if match is None:
            if bare is None:
                self.fail_expecting(f"{what} in quotes")
            return self.take(bare, what).group()
        self.at = match.end()
        literal = match.group()
        if "\\" not in literal:
            return literal[1:-1]
        try:
            value = ast.literal_eval(literal)
        except (SyntaxError, ValueError) as error:
            self.fail(f"{literal} is no string: {error}")
        return str(value)

    def whole(self, digits: str) -> int:
        try:
            return int(digits)
        except ValueError as error:
            self.fail(str(error))


def _header(line: _LineReader, program: Program) -> None:
    match = line.take(_HEADER, _HEADER_FORM)
    line.end()
    idx, parent, forward, backward = (line.whole(digits) for digits in match.groups())
    if idx != len(program.blocks):
        line.fail(f"block {idx} stands where block {len(program.blocks)} belongs")
    with line.name_line_in_errors():
        new_block(program, parent, forward, backward)


def _variable(line: _LineReader, block: Block, prefix: re.Match[str]) -> None:
    line.at = prefix.end()
    persistable, sort = prefix.groups()
    name = line.string(BARE_NAME, "the variable's name")
    line.skip(" : ")
    kind = line.string(BARE_WORD, "the variable's kind")
    kind = _FORMER_NAMES.get(kind, kind)
    if name in block.vars:
        line.fail(f"variable {name!r} is declared twice")
    if kind in TENSORS:
        dims, dtype, stop = line.take(_TENSOR, "'.shape(…).dtype(…).stop_gradient(…)'").groups()
        shape = [line.whole(d) for d in dims.split(",") if d.strip()]
    else:
        line.skip(")")
        shape, dtype, stop = [], "float32", "False"
    line.end()
    with line.name_line_in_errors():
        spec = TensorSpec(shape, dtype)
        v: Variable
        if sort == "var":
            v = Variable(block, name, spec, kind=kind)
        else:
            v = Parameter(block, name, spec, trainable=sort == "trainable param")
            v.kind = kind
    v.persistable = persistable is not None
    v.stop_gradient = stop == "True"
    block.vars[name] = v


# -- operators ----------------------------------------------------------------------------------------------------


class _Statement:
    """An operator's line."""

    __slots__ = ("block", "line")

    def __init__(self, line: _LineReader, block: Block) -> None:
        self.line = line
        self.block = block

    def operator(self) -> Operator:
        line = self.line
        outputs: dict[str, list[str]] = {}
        if line.accept("{"):
            outputs = self._slots()
            line.skip(" = ")
        type_ = line.take(BARE_WORD, "a variable or an operator").group()
        line.skip("(inputs={")
        with line.name_line_in_errors():
            op = definition(type_)
        inputs = self._slots()
        attrs, common = self._attributes(op)
        with line.name_line_in_errors():
            return assemble(
                self.block,
                op,
                inputs,
                outputs,
                attrs,
                role=common.get("op_role", 0),
                role_var=common.get("op_role_var", ()),
                scope=common.get("op_namescope", "/"),
            )

    def _slots(self) -> dict[str, list[str]]:
        """``X=['a', 'b'], Y=[]}``: the names by slot."""
        line = self.line
        slots: dict[str, list[str]] = {}
        while not line.accept("}"):
            if slots:
                line.skip(", ")
            slot = line.take(_SLOT, "a slot").group(1)
            if slot in slots:
                line.fail(f"slot {slot} is given twice")
            arguments = slots[slot] = []
            while not line.accept("]"):
                if arguments:
                    line.skip(", ")
                arguments.append(line.string(None, "a variable's name"))
        return slots

    def _attributes(self, op: OpDef) -> tuple[dict[str, Any], dict[str, Any]]:
        """The operator's own attributes, and those that every operator has."""
        line = self.line
        attributes: dict[str, Any] = {}
        while not line.accept(")"):
            name = line.take(_ATTRIBUTE, "', attribute = value' or ')'").group(1)
            if name in attributes:
                line.fail(f"attribute {name} is given twice")
            with line.name_line_in_errors():
                check_attribute(op, name, COMMON)
            text = is_text(op.defaults[name]) if name in op.defaults else name in _TEXTS
            attributes[name] = line.string(BARE_TEXT, "a string") if text else self._value()
        line.end()
        common = {n: self._common(n, attributes.pop(n)) for n in COMMON if n in attributes}
        return attributes, common

    def _common(self, name: str, value: Any) -> Any:
        check, wanted = _COMMON[name]
        if not check(value):
            self.line.fail(f"{name} must be {wanted}, but is {value!r}")
        return value

    def _value(self) -> Any:
        """A number, a truth value, None, a quoted string, a block, or a list of values."""
        line = self.line
        open_lists: list[list[Any]] = []
        while True:
            if line.accept("["):
                open_lists.append([])
                if not line.accept("]"):
                    continue
                value: Any = tuple(open_lists.pop())
            else:
                value = self._scalar()
            while open_lists:
                open_lists[-1].append(value)
                if line.accept(", "):
                    break
                line.skip("]")
                value = tuple(open_lists.pop())
            else:
                return value

    def _scalar(self) -> Any:
        line = self.line
        if (match := _BLOCKS.match(line.text, line.at)) is not None:
            line.at = match.end()
            program = self.block.program
            with line.name_line_in_errors():
                blocks = [block_at(program, line.whole(n)) for n in re.findall(r"\d+", match.group())]
            return blocks[0] if match.group().startswith("block[") else tuple(blocks)
        if line.text[line.at : line.at + 1] in ("'", '"'):
            return line.string(None, "a string")
        if line.text[line.at : line.at + 1] == "(":
            return complex(line.take(_COMPLEX, "a complex number").group())
        match = line.take(_NUMBER, "a value")
        word = match.group()
        if word in _WORDS:
            return _WORDS[word]
        if match.group(1) is not None or match.group(2) is not None or word.endswith(("inf", "nan")):
            return float(word)
        return line.whole(word)


_BLOCKS = re.compile(r"block\[\d+\]|blocks\[\[\d+(?:, \d+)*\]\]")
_SLOT = re.compile(r"([\w@]+)=\[")
_ATTRIBUTE = re.compile(r", (\w+) = ")
_TEXTS = ("op_device", "op_namescope")
_WORDS = {"True": True, "False": False, "None": None}


def _is_role(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_role_var(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) % 2 == 0 and all(isinstance(n, str) for n in value)


_COMMON: dict[str, tuple[Callable[[Any], bool], str]] = {
    "op_role": (_is_role, "a role's number"),
    "op_role_var": (_is_role_var, "a list of parameters and gradients, two by two"),
    "op_namescope": (lambda value: True, "a path"),
    "op_device": (lambda value: value == "", "empty (gradtool places no operators)"),
    "with_quant_attr": (lambda value: value is False, "False (gradtool has no quantisation)"),
    "op_callstack": (lambda value: False, "left out"),
}
"""What the attributes that every operator has may be; gradtool would lose other values silently."""


# -- what the text does not say -----------------------------------------------------------------------------------

_NUMBERED = re.compile(r"(.+)_(\d{1,18})")


def _local_variables(block: Block) -> set[Variable]:
    """The variables that an operator writes before any reads them."""
    read: set[Variable] = set()
    computed: set[Variable] = set()
    for op in block.ops:
        read.update(v for v in op.input_variables() if v not in computed)
        computed.update(v for v in op.output_variables() if v not in read)
    return computed


def complete(program: Program) -> None:
    """Fed variables, the counters of unique names, and how often a backward part was appended."""
    computed = _local_variables(program.blocks[0])
    for v in program.blocks[0].vars.values():
        v.is_data = v not in computed and not v.persistable and not v.is_parameter and v.kind == DENSE
    for v in program.list_vars():
        for name in (v.name, v.name.rpartition(".")[0]):  # fc_0.tmp_1 was counted under fc_0.tmp and fc
            numbered = _NUMBERED.fullmatch(name)
            if numbered is not None:
                program.names.raise_to(numbered[1], int(numbered[2]) + 1)
    written = [o.role for block in program.blocks for o in block.ops]
    if any(map(roles.is_backward, written)):
        program._appending_grad_times = max(1, written.count(roles.BACKWARD | roles.LOSS))
