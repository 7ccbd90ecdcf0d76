"""Programs and the values of their variables in files: ``static.save``, ``static.save_inference_model``, ….

All files are containers as ``paddle.save`` writes them, so ``paddle.load`` reads each of them too. Values come from and
go to the current scope; the *executor* that Paddle's functions take has nothing to do.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np

from gradtool.engine.core.errors import (
    ArgumentTypeError,
    DtypeError,
    FileFormatError,
    FileMissing,
    NotFound,
    ShapeError,
    UsageError,
    did_you_mean,
    expect_type,
)
from gradtool.engine.executor.scope import global_scope
from gradtool.engine.executor.values import SkippedValueWarning
from gradtool.engine.files import container
from gradtool.engine.files.container import Array
from gradtool.engine.files.writing import write_files
from gradtool.engine.ir.default import default_main_program
from gradtool.engine.ir.paddle.from_desc import DescribedProgram
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.prune import prune
from gradtool.engine.ir.variable import Variable
from gradtool.paddle import _nested
from gradtool.paddle._saving import check_protocol, refuse_options, target

from . import _foreign

NEW_MODEL = ".json"
"""The ending of programs in the new IR of Paddle 3."""
PARAMETERS, OPTIMIZER, MODEL, INFERENCE = ".pdparams", ".pdopt", ".pdmodel", ".pdiparams"


class MissingValue(NotFound, AssertionError):
    """A variable whose value a file does not hold (Paddle raises AssertionError)."""


class ValueShapeError(ShapeError, AssertionError):
    """A value of another shape than its variable (Paddle raises AssertionError)."""


class ValueTypeError(DtypeError, AssertionError):
    """A value of another data type than its variable (Paddle raises AssertionError)."""


class EmptyPathError(UsageError, AssertionError):
    """A path that names no file (Paddle raises AssertionError)."""


# -- values -----------------------------------------------------------------------------------------------------------


def values_in(path: str) -> dict[str, Array]:
    """The arrays by name that a file holds."""
    with container.open_file(path) as file:
        return _values(file, path)


def values_of(program: Program, path: str) -> dict[str, Array]:
    """The values of the variables of *program* that a file holds; files of Paddle's own have no names in them."""
    return _foreign.values_for(persistable(program), path)


def _values(file: BinaryIO, where: str) -> dict[str, Array]:
    values = _nested.read(file, where, return_numpy=True)
    if not isinstance(values, dict) or not all(isinstance(v, np.ndarray) for v in values.values()):
        raise FileFormatError(where, "values of variables by name", "it holds something else")
    return values


def set_values(variables: Iterable[Variable], values: Mapping[str, Array], where: str) -> None:
    """Give variables of a program their values in the current scope: all of them, or none.

    Raises:
        MissingValue: *values* lacks one (a KeyError and an AssertionError).
        ValueShapeError, ValueTypeError: one does not fit.
    """
    chosen = list(variables)
    for v in chosen:
        if v.name not in values:
            raise MissingValue(f"Can not find [{v.name}] in model file [{where}]", hint=did_you_mean(v.name, values))
        check_fit(v, values[v.name])
    for v in chosen:
        global_scope().var(v.name).get_tensor().set(values[v.name])


def check_fit(v: Variable, value: Array) -> None:
    """Raise unless *value* has the shape and type of *v*; dimensions that are not known may be any."""
    if len(value.shape) != v.ndim or any(d not in (-1, n) for d, n in zip(v.shape, value.shape, strict=True)):
        raise ValueShapeError(
            f"Parameter's shape does not match, the Program requires a parameter with the shape of ({v.shape}), while "
            f"the loaded parameter (namely [ {v.name} ]) has a shape of ({value.shape})."
        )
    if value.dtype.name != v.dtype.name:
        raise ValueTypeError(
            f"Parameter's data type does not match, the Program requires a parameter with a dtype of ({v.dtype.name}), "
            f"while the loaded parameter (namely [ {v.name} ]) has a dtype of ({value.dtype})."
        )


def persistable(program: Program) -> list[Variable]:
    """The variables whose values live in a scope."""
    return [v for v in program.list_vars() if v.persistable]


def _prefix(path: Any, *suffixes: str) -> str:
    """*path* without one of the suffixes that its files have."""
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentTypeError(f"'path_prefix' should be a string, but received {type(path).__name__}.")
    name = os.fsdecode(path)
    if not os.path.basename(name):
        raise EmptyPathError(
            "The input model_path MUST be format of dirname/filename [dirname\\filename in Windows system], but "
            "received model_path is empty string."
        )
    for suffix in suffixes:
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return name


def save(program: Program, model_path: str, protocol: int = 4, **configs: Any) -> None:
    """Write a program and the values of its variables: three files, all of them or none.

    Args:
        model_path: what the files' names begin with: ``.pdparams`` (parameters), ``.pdopt`` (other persistable
            variables, such as moments) and ``.pdmodel`` (the program) are appended.
        protocol: 2, 3 or 4, as in Paddle; it has no meaning here.

    Raises:
        ArgumentTypeError: *program* is no Program (a TypeError).
        VariableNotFound: a variable has no value yet: the startup program was not run (a ValueError).
        EmptyPathError: *model_path* names no file (a ValueError and an AssertionError).
    """
    expect_type(program, Program, "program", "paddle.static.save")
    check_protocol(protocol)
    refuse_options("paddle.static.save", configs)
    prefix = _prefix(model_path)
    contents = {
        PARAMETERS: _nested.pieces(program.state_dict("param")),
        OPTIMIZER: _nested.pieces(program.state_dict("opt")),
        MODEL: _nested.pieces(program),
    }
    target(prefix)
    write_files({prefix + suffix: content for suffix, content in contents.items()})


def load(program: Program, model_path: str, executor: Any = None, var_list: Sequence[Variable] | None = None) -> None:
    """Give the variables of *program* the values that :func:`save` wrote: all of them, or none.

    Args:
        model_path: as :func:`save` took it, or one of the files.
        var_list: only these variables; all persistable ones when None.

    Raises:
        FileMissing: a file is not there (a FileNotFoundError and a ValueError).
        FileFormatError: a file is damaged, or something else (a ValueError).
        MissingValue: a variable's value is not in the file (a KeyError and an AssertionError).
        ValueShapeError, ValueTypeError: a value does not fit its variable.
    """
    expect_type(program, Program, "program", "paddle.static.load")
    prefix = _prefix(model_path, PARAMETERS, OPTIMIZER, MODEL)
    chosen = persistable(program) if var_list is None else list(var_list)
    values = values_in(prefix + PARAMETERS)
    if not all(v.name in values for v in chosen):
        values.update(values_in(prefix + OPTIMIZER))
    set_values(chosen, values, prefix + PARAMETERS)


def load_program_state(model_path: str, var_list: Sequence[Variable] | None = None) -> dict[str, Array]:
    """The values that :func:`save` wrote, or one file of values, as arrays by name.

    Args:
        model_path: as :func:`save` took it; or a file that ``fluid.io.save_params`` and its like wrote.
        var_list: only these variables.

    Raises:
        FileMissing: the file is not there (a FileNotFoundError and a ValueError).
        FileFormatError: a file is damaged, or something else (a ValueError).
    """
    prefix = _prefix(model_path, PARAMETERS, OPTIMIZER, MODEL)
    if not os.path.exists(prefix + PARAMETERS) and os.path.isfile(model_path):
        values = values_in(model_path)
    else:
        values = values_in(prefix + PARAMETERS)
        if os.path.exists(prefix + OPTIMIZER):
            values.update(values_in(prefix + OPTIMIZER))
    if var_list is None:
        return values
    wanted = {v.name for v in var_list}
    return {name: value for name, value in values.items() if name in wanted}


def set_program_state(program: Program, state_dict: Mapping[str, Any]) -> None:
    """Give the variables of *program* the values in *state_dict*, after its startup program was run.

    Names that the program does not have are passed over with a warning.

    Raises:
        MissingValue: a variable of the program has no value yet (an AssertionError).
        ValueShapeError, ValueTypeError: a value does not fit; nothing is changed.
    """
    expect_type(program, Program, "program", "paddle.static.set_program_state")
    variables = persistable(program)
    for v in variables:
        if global_scope().find_var(v.name) is None:
            raise MissingValue(f"Variable [ {v.name} ] Not found, Please make sure run startup program")
    names = {v.name for v in variables}
    values = {name: np.asarray(value) for name, value in state_dict.items()}
    set_values([v for v in variables if v.name in values], values, "state_dict")
    unused = [name for name in values if name not in names]
    if unused:
        warnings.warn(
            "This list is not set, Because of Parameter not found in program. There are: " + " ".join(unused),
            SkippedValueWarning,
            stacklevel=2,
        )


# -- programs for inference -------------------------------------------------------------------------------------------


def _variables(value: Any, what: str) -> list[Variable]:
    variables = list(value) if isinstance(value, (list, tuple)) else [value]
    if not all(isinstance(v, Variable) for v in variables):
        raise ArgumentTypeError(f"'{what}' should be a Variable or a list of Variable.")
    return variables


def _program(program: Any) -> Program:
    if program is None:
        return default_main_program()
    expect_type(program, Program, "program", "paddle.static")
    return program  # type: ignore[no-any-return]


def normalize_program(program: Program, feed_vars: Any, fetch_vars: Any, **kwargs: Any) -> Program:
    """A copy of *program* that computes *fetch_vars* from *feed_vars* and holds nothing else, in test form.

    Paddle marks what is fed and fetched by operators ``feed`` and ``fetch``; here the files keep the names.

    Args:
        skip_prune_program: keep all operators of the forward part.

    Raises:
        ArgumentTypeError: an argument of a wrong type (a TypeError and a ValueError).
        UsageError: *program* has no operators, a variable to feed is not needed, or one that is needed is not fed (a
            ValueError).
    """
    expect_type(program, Program, "program", "paddle.static.normalize_program")
    refuse_options("paddle.static.normalize_program", kwargs, ("skip_prune_program",))
    feeds, fetches = _variables(feed_vars, "feed_vars"), _variables(fetch_vars, "fetch_vars")
    if not program.global_block().ops:
        raise UsageError("program must not be empty. at least one operator is required!")
    for v in (*feeds, *fetches):
        if program.global_block().vars.get(v.name) is None:
            raise UsageError(f"variable '{v.name}' is not in the program.")
    skip = bool(kwargs.get("skip_prune_program", False))
    return prune(program, [v.name for v in feeds], [v.name for v in fetches], skip=skip)


_IGNORED = ("clip_extra", "legacy_format")
"""What concerns Paddle's own file format only."""


def _normal(feed_vars: Any, fetch_vars: Any, where: str, kwargs: dict[str, Any]) -> tuple[Program, dict[str, Any]]:
    """The normalized program, and all that a file for inference holds."""
    refuse_options(where, kwargs, ("program", "skip_prune_program", *_IGNORED))
    skip = kwargs.get("skip_prune_program", False)
    feeds, fetches = _variables(feed_vars, "feed_vars"), _variables(fetch_vars, "fetch_vars")
    program = normalize_program(_program(kwargs.get("program")), feeds, fetches, skip_prune_program=skip)
    held = {"program": program, "feed": [v.name for v in feeds], "fetch": [v.name for v in fetches]}
    return program, held


def serialize_program(feed_vars: Any, fetch_vars: Any, **kwargs: Any) -> bytes:
    """The program that computes *fetch_vars* from *feed_vars*, as bytes; see :func:`normalize_program`.

    Args:
        program: the default main program when None.
    """
    return b"".join(_nested.pieces(_normal(feed_vars, fetch_vars, "paddle.static.serialize_program", kwargs)[1]))


def deserialize_program(data: bytes) -> Program:
    """The program that :func:`serialize_program` made bytes of; raises :class:`FileFormatError` (a ValueError)."""
    expect_type(data, bytes, "data", "paddle.static.deserialize_program")
    described = _foreign.program_in(data, "the bytes")
    if described is not None:
        return described.program
    return inference(*container.read_stream(io.BytesIO(data), "the bytes"), "the bytes")[0]


def serialize_persistables(feed_vars: Any, fetch_vars: Any, executor: Any, **kwargs: Any) -> bytes:
    """The values of the variables that computing *fetch_vars* from *feed_vars* reads, as bytes.

    Args:
        program: the default main program when None.
    """
    program, _ = _normal(feed_vars, fetch_vars, "paddle.static.serialize_persistables", kwargs)
    return b"".join(_nested.pieces(program.state_dict()))


def deserialize_persistables(program: Program, data: bytes, executor: Any) -> None:
    """Give the variables of *program* the values that :func:`serialize_persistables` made bytes of."""
    expect_type(program, Program, "program", "paddle.static.deserialize_persistables")
    expect_type(data, bytes, "data", "paddle.static.deserialize_persistables")
    values = _foreign.values_from(persistable(program), io.BytesIO(data), "the bytes")
    set_values(persistable(program), values, "the bytes")


def save_to_file(path: str, content: bytes) -> None:
    """Write bytes to a file, whole or not at all."""
    expect_type(content, bytes, "content", "paddle.static.save_to_file")
    write_files({target(path): content})


def load_from_file(path: str) -> bytes:
    """The bytes of a file; raises :class:`FileMissing` (a FileNotFoundError)."""
    if not os.path.isfile(path):
        raise FileMissing(f"{path}: there is no such file.")
    with open(path, "rb") as file:
        return file.read()


def save_inference_model(path_prefix: str, feed_vars: Any, fetch_vars: Any, executor: Any, **kwargs: Any) -> None:
    """Write the program that computes *fetch_vars* from *feed_vars*, and the values it needs: both files or none.

    Args:
        path_prefix: what the files' names begin with: ``.pdmodel`` and ``.pdiparams`` are appended.
        program: the default main program when None.

    Raises:
        ArgumentTypeError, UsageError: as for :func:`normalize_program`.
        VariableNotFound: a parameter has no value yet: the startup program was not run (a ValueError).
    """
    prefix = _prefix(path_prefix)
    write_inference(prefix + MODEL, prefix + INFERENCE, feed_vars, fetch_vars, kwargs)


def write_inference(model: str, values: str | None, feed_vars: Any, fetch_vars: Any, kwargs: dict[str, Any]) -> None:
    """Write the program to *model*, and the values that it needs to *values*."""
    program, held = _normal(feed_vars, fetch_vars, "paddle.static.save_inference_model", kwargs)
    contents = {model: _nested.pieces(held)}
    if values is not None:
        contents[values] = _nested.pieces(program.state_dict())
    for path in contents:
        if os.path.isdir(path):
            raise UsageError(f"'{path}' is an existing directory.")
        target(path)
    write_files(contents)


def load_inference_model(path_prefix: str | None, executor: Any, **kwargs: Any) -> list[Any]:
    """Read what :func:`save_inference_model` wrote; the values go to the current scope.

    Args:
        path_prefix: as :func:`save_inference_model` took it; a folder when file names are given.
        model_filename, params_filename: names of the files in that folder.

    Returns:
        ``[program, names of what to feed, variables to fetch]``.

    Raises:
        FileMissing: a file is not there (a FileNotFoundError and a ValueError).
        FileFormatError: a file is damaged, or something else (a ValueError).
        MissingValue, ValueShapeError, ValueTypeError: the values are not those of the program.
    """
    refuse_options("paddle.static.load_inference_model", kwargs, ("model_filename", "params_filename"))
    if path_prefix is None:
        raise UsageError(
            "path_prefix is None: a model in memory is not read here.",
            hint="static.deserialize_program and static.deserialize_persistables take bytes",
        )
    if not kwargs:
        prefix = _prefix(path_prefix, MODEL, INFERENCE, NEW_MODEL)
        form = NEW_MODEL if os.path.isfile(prefix + NEW_MODEL) and not os.path.exists(prefix + MODEL) else MODEL
        return read_inference(prefix + form, prefix + INFERENCE)
    names = (kwargs.get("model_filename") or "__model__", kwargs.get("params_filename") or "__params__")
    model, values = (os.path.join(path_prefix, name) for name in names)
    return read_inference(*(p + s if os.path.exists(p + s) else p for p, s in ((model, MODEL), (values, INFERENCE))))


def read_inference(model: str, values: str) -> list[Any]:
    """The program in the file *model*, with its values from the file *values*."""
    program, feeds, fetches = program_at(model)
    variables = persistable(program)
    if variables and not os.path.exists(values) and _foreign.lie_apart(variables, os.path.dirname(model)):
        set_values(variables, _foreign.values_apart(variables, os.path.dirname(model)), model)
    elif variables:
        set_values(variables, values_of(program, values), values)
    return [program, feeds, fetches]


def program_at(path: str) -> tuple[Program, list[str], list[Variable]]:
    """The program in a file, Paddle's own or one of gradtool's, with what to feed and to fetch if it says so."""
    with container.open_file(path) as file:
        start = file.read(_foreign.START)
        file.seek(0)
        described = _foreign.program_in(file.read(), path) if _foreign.is_foreign(start) else None
        if described is None:
            return inference(*container.read_stream(file, path), path)
    return described.program, described.feeds, _fetched(described)


def holds_program(path: str) -> bool:
    """Return whether a file holds a program of Paddle's, by its first bytes."""
    with container.open_file(path) as file:
        return _foreign.is_foreign(file.read(_foreign.START))


def _fetched(described: DescribedProgram) -> list[Variable]:
    return [described.program.global_block().vars[name] for name in described.fetches]


def inference(
    arrays: Mapping[str, Array], texts: Mapping[str, str], where: str
) -> tuple[Program, list[str], list[Variable]]:
    """The program in a container, with what to feed and to fetch if it says so."""
    held = _nested.restored(arrays, texts, where)
    match held:
        case Program():
            return held, [], []
        case {"program": Program() as program, "feed": [*feeds], "fetch": [*fetches]}:
            variables = program.global_block().vars
            unknown = [n for n in (*feeds, *fetches) if not isinstance(n, str) or n not in variables]
            if not unknown:
                return program, feeds, [variables[n] for n in fetches]
            raise FileFormatError(where, "names of variables to feed and fetch", f"there is {unknown[0]!r}")
    raise FileFormatError(where, "a program", f"it holds a {type(held).__name__}")
