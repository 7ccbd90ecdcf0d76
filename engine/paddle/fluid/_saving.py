"""``paddle.fluid.io``: the functions of version 1 over those of ``paddle.static``.

Where version 1 wrote one file per variable, one file holds them all: ``__params__``, unless *filename* names another.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

from gradtool.engine.core.errors import expect_type
from gradtool.engine.executor.executor import Executor
from gradtool.engine.files.writing import write_files
from gradtool.engine.ir.default import default_main_program
from gradtool.engine.ir.program import Program
from gradtool.engine.ir.variable import Variable
from gradtool.paddle import _nested
from gradtool.paddle._saving import target
from gradtool.paddle.static._saving import persistable, read_inference, set_values, values_in, write_inference

VALUES, MODEL = "__params__", "__model__"

Choice = Callable[[Variable], bool] | None


def _chosen(main_program: Any, vars: Iterable[Any] | None, predicate: Choice) -> list[Variable]:
    program = main_program if main_program is not None else default_main_program()
    expect_type(program, Program, "main_program", "paddle.fluid.io")
    if vars is None:
        return [v for v in program.list_vars() if predicate is None or predicate(v)]
    return [program.global_block().var(v) if isinstance(v, str) else v for v in vars]


def _file(dirname: str, filename: str | None) -> str:
    expect_type(dirname, str, "dirname", "paddle.fluid.io")
    return os.path.join(dirname, filename or VALUES)


def save_vars(
    executor: Executor,
    dirname: str,
    main_program: Program | None = None,
    vars: Iterable[Any] | None = None,
    predicate: Choice = None,
    filename: str | None = None,
) -> None:
    """Write the values of variables to one file in the folder *dirname*.

    Args:
        vars: the variables, or their names; None for those of *main_program* for which *predicate* is true.

    Raises:
        VariableNotFound: one of them has no value (a ValueError).
    """
    chosen = _chosen(main_program, vars, predicate)
    pieces = _nested.pieces({v.name: v.get_value() for v in chosen})
    write_files({target(_file(dirname, filename)): pieces})


def load_vars(
    executor: Executor,
    dirname: str,
    main_program: Program | None = None,
    vars: Iterable[Any] | None = None,
    predicate: Choice = None,
    filename: str | None = None,
) -> None:
    """Give variables the values in a file that :func:`save_vars` wrote: all of them, or none.

    Raises:
        FileMissing, FileFormatError, MissingValue, ValueShapeError, ValueTypeError: as for ``static.load``.
    """
    path = _file(dirname, filename)
    set_values(_chosen(main_program, vars, predicate), values_in(path), path)


def _is_parameter(v: Variable) -> bool:
    return v.is_parameter


def is_persistable(var: Variable) -> bool:
    """Return whether the value of *var* lives in a scope between runs.

    Raises:
        ArgumentTypeError: *var* is no variable (a TypeError).
    """
    expect_type(var, Variable, "var", "paddle.static.is_persistable")
    return var.persistable


def save_params(
    executor: Executor, dirname: str, main_program: Program | None = None, filename: str | None = None
) -> None:
    """Write the values of all parameters; see :func:`save_vars`."""
    save_vars(executor, dirname, main_program, predicate=_is_parameter, filename=filename)


def load_params(
    executor: Executor, dirname: str, main_program: Program | None = None, filename: str | None = None
) -> None:
    """Read what :func:`save_params` wrote; see :func:`load_vars`."""
    load_vars(executor, dirname, main_program, predicate=_is_parameter, filename=filename)


def save_persistables(
    executor: Executor, dirname: str, main_program: Program | None = None, filename: str | None = None
) -> None:
    """Write the values of all persistable variables, those of optimizers too; see :func:`save_vars`."""
    save_vars(executor, dirname, main_program, predicate=is_persistable, filename=filename)


def load_persistables(
    executor: Executor, dirname: str, main_program: Program | None = None, filename: str | None = None
) -> None:
    """Read what :func:`save_persistables` wrote; see :func:`load_vars`."""
    load_vars(executor, dirname, main_program, predicate=is_persistable, filename=filename)


def save_inference_model(
    dirname: str,
    feeded_var_names: list[str] | str,
    target_vars: list[Variable],
    executor: Executor,
    main_program: Program | None = None,
    model_filename: str | None = None,
    params_filename: str | None = None,
    export_for_deployment: bool = True,
    program_only: bool = False,
) -> list[str]:
    """Write the program that computes *target_vars* from what is fed, and its values, to the folder *dirname*.

    Args:
        feeded_var_names: names of the variables to feed.
        program_only: leave the values out.

    Returns:
        The names of *target_vars*.
    """
    program = main_program if main_program is not None else default_main_program()
    names = [feeded_var_names] if isinstance(feeded_var_names, str) else feeded_var_names
    feeds = [program.global_block().var(name) for name in names]
    values = None if program_only else _file(dirname, params_filename)
    write_inference(os.path.join(dirname, model_filename or MODEL), values, feeds, target_vars, {"program": program})
    return [v.name for v in (target_vars if isinstance(target_vars, (list, tuple)) else [target_vars])]


def load_inference_model(
    dirname: str,
    executor: Executor,
    model_filename: str | None = None,
    params_filename: str | None = None,
    pserver_endpoints: Any = None,
) -> list[Any]:
    """Read what :func:`save_inference_model` wrote: ``[program, names of what to feed, variables to fetch]``."""
    return read_inference(os.path.join(dirname, model_filename or MODEL), _file(dirname, params_filename))


def get_program_persistable_vars(program: Program) -> list[Variable]:
    """The variables of *program* whose values live in a scope."""
    expect_type(program, Program, "program", "paddle.fluid.io.get_program_persistable_vars")
    return persistable(program)


def get_program_parameter(program: Program) -> list[Variable]:
    """The parameters of *program*."""
    expect_type(program, Program, "program", "paddle.fluid.io.get_program_parameter")
    return list(program.all_parameters())
