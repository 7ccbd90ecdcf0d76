"""The program of a function computes what the function computes, with the same gradients, from files too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle._structure import leaves, mapped

from .usages import USAGES, seeded

PADDLE = json.loads((Path(__file__).parent / "paddle.json").read_text())["usages"]
"""By usage, what Paddle gave for each call, and what the program does that it makes with ``full_graph=True``."""

pytestmark = pytest.mark.usefixtures("dynamic")


def tensors_of(arguments: Any) -> Any:
    def tensor(value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return value
        return paddle.to_tensor(value, stop_gradient=value.dtype.kind != "f")

    return mapped(tensor, arguments)


def listed(result: Any) -> list[Tensor]:
    """The tensors of a result in the order in which its parts are written."""
    if isinstance(result, dict):
        return [t for v in result.values() for t in listed(v)]
    if isinstance(result, (list, tuple)):
        return [t for v in result for t in listed(v)]
    return [result] if isinstance(result, Tensor) else []


def in_dynamic_mode(subject: Any, arguments: Any, held: list[Tensor]) -> tuple[list[Any], list[Any]]:
    """Results, and gradients of their sum."""
    inputs = tensors_of(arguments)
    results = listed(subject(*inputs))
    loss = sum(r.sum() for r in results if r.dtype.is_floating and not r.stop_gradient)
    for p in held:
        p.clear_gradient(False)
    if isinstance(loss, Tensor):  # without an iteration a result is a constant
        loss.backward()
    wanted = [t for t in leaves(inputs) if isinstance(t, Tensor) and not t.stop_gradient]
    grads = [None if t.grad is None else t.grad.numpy() for t in (*wanted, *held)]
    return [r.numpy() for r in results], grads


def by_the_program(concrete: Any, arguments: Any, held: list[Tensor]) -> tuple[list[Any], list[Any]]:
    """The same of a program."""
    program = concrete.main_program.clone()
    block = program.global_block()
    outputs = [block.vars[v.name] for v in concrete.outputs]
    feeds = [block.vars[v.name] for v in concrete.feeds]
    arrays = [v for v in leaves(arguments) if isinstance(v, np.ndarray)]
    paddle.enable_static()
    try:
        with paddle.static.program_guard(program), paddle.static.scope_guard(paddle.static.Scope()):
            scope = paddle.static.global_scope()
            for name, tensor in concrete.tensors.items():
                scope.var(name).get_tensor().set(tensor.numpy())
            parts = [paddle.sum(o) for o in outputs if o.dtype.is_floating and not o.stop_gradient]
            loss = paddle.add_n(parts)
            differentiable = [v for v in feeds if v.dtype.is_floating]
            params = [block.vars[p.name] for p in held]
            grads = paddle.static.gradients([loss], [*differentiable, *params])
            feed = {v.name: a for v, a in zip(feeds, arrays, strict=True)}
            fetched = paddle.static.Executor().run(program, feed, [*outputs, *(g for g in grads if g is not None)])
    finally:
        paddle.disable_static()
    values = iter(fetched[len(outputs) :])
    return fetched[: len(outputs)], [None if g is None else next(values) for g in grads]


def close(a: Any, b: Any, what: str) -> None:
    assert len(a) == len(b), what
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        zeros = x is None or y is None
        x, y = (np.zeros(()) if v is None else np.asarray(v) for v in (x, y))
        assert zeros or x.shape == y.shape, f"{what} {i}"
        np.testing.assert_allclose(x, y, rtol=2e-5, atol=1e-5, err_msg=f"{what} {i}")


def as_in_paddle(record: dict[str, Any], results: list[Any], grads: list[Any]) -> None:
    """What Paddle gave."""
    shaped = [np.array(values).reshape(shape) for shape, values in record["results"]]
    close(results, shaped, "result of Paddle")
    theirs = [None if g is None else np.array(g[1]).reshape(g[0]) for g in record["gradients"]]
    close(grads[: len(theirs)], theirs, "gradient of Paddle")


def test_what_paddle_makes_of_the_usages_is_recorded() -> None:
    assert set(PADDLE) == set(USAGES)
    same = {name for name, calls in PADDLE.items() if all(c["program"] == "the same" for c in calls)}
    assert 2 * len(same) > len(USAGES)


@pytest.mark.parametrize("name", USAGES)
def test_a_program_computes_what_the_function_computes(name: str, tmp_path: Path) -> None:
    paddle.seed(1)
    subject, specs, calls = USAGES[name]()
    seeded(subject)
    marked = paddle.jit.to_static(subject, input_spec=specs)
    function = marked.forward if isinstance(marked, paddle.nn.Layer) else marked
    fields = dict(vars(subject)) if isinstance(subject, paddle.nn.Layer) else {}
    concrete = function.concrete_program
    assert {k: v for k, v in fields.items() if vars(subject).get(k) is not v} == {}
    held = [t for t in concrete.parameters if not t.stop_gradient]
    for arguments, record in zip(calls, PADDLE[name], strict=True):
        results, grads = in_dynamic_mode(subject, arguments, held)
        as_in_paddle(record, results, grads)
        from_program, grads_of_program = by_the_program(concrete, arguments, held)
        close(results, from_program, "result")
        close(grads, grads_of_program, "gradient")
    # Files hold the test form.
    paddle.jit.save(marked, str(tmp_path / "model"))
    loaded = paddle.jit.load(str(tmp_path / "model")).train()
    trained = [p for p in loaded.parameters() if not p.stop_gradient]
    assert [p.name for p in trained] == [p.name for p in held]
    if isinstance(subject, paddle.nn.Layer):
        subject.eval()
    for arguments in calls:
        results, grads = in_dynamic_mode(subject, arguments, held)
        flat = [v for v in leaves(arguments) if isinstance(v, np.ndarray)]
        from_file, grads_from_file = in_dynamic_mode(loaded, flat, trained)
        close(results, from_file, "result from the file")
        close(grads, grads_from_file, "gradient from the file")
