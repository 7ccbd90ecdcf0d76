"""What the calls of the table give in a static program: the types that are declared, and those that come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradtool import paddle
from gradtool.paddle.static import Variable

from .calls import FIRST, OPERANDS, SECOND, array, names_in
from .dynamic import REFUSED, carries, flat, joined, short


def outcomes(text: str, kinds: Sequence[tuple[str, ...]]) -> list[tuple[str, str]]:
    """For each of *kinds*, the declared and the delivered types of a call, as ``dynamic.outcome`` writes them.

    All of them stand in one program, which runs once.
    """
    feed: dict[str, Any] = {}
    fetch: list[Variable] = []
    runs: list[tuple[list[Any], list[Variable | None] | str | None]] = []
    paddle.enable_static()
    try:
        program = paddle.static.Program()
        with paddle.static.program_guard(program, paddle.static.Program()):
            for n, types in enumerate(kinds):
                runs.append(_built(text, types, f"_{n}", feed))
                results, gradients = runs[-1]
                fetch += [v for v in [*results, *(gradients if isinstance(gradients, list) else ())] if _fetched(v)]
            values = iter(paddle.static.Executor().run(program, feed=feed, fetch_list=fetch) if fetch else [])
    finally:
        paddle.disable_static()
    pairs = []
    for results, gradients in runs:
        declared = _cell(results, gradients, short)
        delivered = _cell(results, gradients, lambda v: short(next(values)) if _fetched(v) else short(v))
        pairs.append((declared, delivered))
    return pairs


def _fetched(value: Any) -> bool:
    return isinstance(value, Variable)


def _built(
    text: str, types: tuple[str, ...], suffix: str, feed: dict[str, Any]
) -> tuple[list[Any], list[Variable | None] | str | None]:
    """The results of a call and their gradients by its operands; no results where it is refused."""
    names = names_in(text)
    operands = {}
    for name in names:
        values, dtype = array(name, types)
        operands[name] = paddle.static.data(name + suffix, values.shape, dtype)
        feed[name + suffix] = values.astype(operands[name].dtype.numpy)
    inputs = [operands[n] for n in names if OPERANDS[n][1] in (FIRST, SECOND) and carries(operands[n])]
    for variable in inputs:
        variable.stop_gradient = False
    scope = {"paddle": paddle, "F": paddle.nn.functional, "first": types[0] if types else "", **operands}
    try:
        results = flat(eval(text, scope))
    except Exception:
        return [], None
    roots = [v for v in results if _fetched(v) and not v.stop_gradient and carries(v)]
    if not roots or not inputs:
        return results, None
    try:
        return results, paddle.static.gradients(roots, inputs)
    except Exception:
        return results, REFUSED


def _cell(results: list[Any], gradients: Any, name: Any) -> str:
    if not results:
        return REFUSED
    text = ",".join(map(name, results))
    if gradients is None:
        return text
    return f"{text}>{gradients}" if gradients == REFUSED else joined(text, gradients, name)


def operators(text: str) -> set[str]:
    """The types of the operators of a program with the call."""
    names: set[str] = set()
    paddle.enable_static()
    for types in (("float32", "float32"), ("int32", "int32"), ("complex64", "complex64")):
        program = paddle.static.Program()
        with paddle.static.program_guard(program, paddle.static.Program()):
            _built(text, types, "", {})
        names |= {op.type for op in program.global_block().ops}
    return names
