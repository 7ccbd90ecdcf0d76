"""Saves programs with an installed Paddle: files of every kind, and what it computes of them.

``PYTHON -m tests.paddle_files.recording OUT NAME…``, by Paddle's Python, from the top of the repository: a folder for
each of the oracle's models, and of the zoo's, which are called ``zoo_NAME`` and are fed their tensors. With
``FLAGS_enable_pir_api=0`` programs are saved as descriptions, else as the new IR.

Paddle cannot write a backward part with branches or loops in the new IR (it aborts while it takes the stacks of values
out): with ``--forward`` the forward part alone is saved. Layers of ``branching.py`` and ``serving.py`` are
saved by ``paddle.jit.save``.
"""

from __future__ import annotations

import linecache
import os
import sys
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import paddle

from tests.paddle_files.branching import LAYERS
from tests.paddle_files.serving import SERVED
from tests.zoo import measured

MODELS = Path(__file__).parents[1] / "oracle" / "models"


def drawn(*key: str) -> np.random.RandomState:
    """Random numbers that follow from names."""
    return np.random.RandomState(zlib.crc32("/".join(key).encode()) & 0x7FFFFFFF)


def feed_of(name: str, spec: dict[str, Any]) -> dict[str, np.ndarray]:
    """What a model of the oracle is fed: small numbers, by the rules that the model states."""
    feed = {}
    for key, told in spec.items():
        draw, shape, kind = drawn(name, key), told["shape"], told["dtype"]
        if "value" in told:
            feed[key] = np.array(told["value"], dtype=kind).reshape(shape)
        elif kind.startswith("int"):
            feed[key] = draw.randint(told.get("low", 0), told.get("high", 10), shape).astype(kind)
        elif told.get("kind") == "bernoulli":
            feed[key] = draw.randint(0, 2, shape).astype(kind)
        elif told.get("kind") == "simplex":
            parts = draw.uniform(0.1, 1.0, shape)
            feed[key] = (parts / parts.sum(-1, keepdims=True)).astype(kind)
        else:
            feed[key] = np.round(draw.uniform(told.get("low", -1.0), told.get("high", 1.0), shape), 4).astype(kind)
    return feed


def variables(program: Any) -> list[Any]:
    return [v for v in program.list_vars() if v.persistable]


def pairs(result: Any, found: dict[str, Any] | None = None) -> dict[str, Any]:
    """The gradients in what a model's ``backward`` returned, in any nesting, by the names of their parameters."""
    found = {} if found is None else found
    for entry in result if isinstance(result, (list, tuple)) else ():
        if isinstance(entry, tuple) and len(entry) == 2 and not isinstance(entry[0], (list, tuple)):
            if entry[0] is not None and entry[1] is not None and getattr(entry[0], "persistable", False):
                found[entry[0].name] = entry[1]
        else:
            pairs(entry, found)
    return found


class Built(NamedTuple):
    """What a model is while its program is made: its loss, what is fed, and what appends its backward part."""

    loss: Any
    feed: dict[str, np.ndarray]
    backward: Callable[[], Any]


def of_oracle(name: str) -> Built:
    """A model of the oracle, in the program that is being made."""
    text = (MODELS / f"{name}.py").read_text(encoding="utf-8")
    model: dict[str, Any] = {"__name__": "model"}
    file = f"/home/user/models/{name}.py"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), model)
    made = model["forward"]()
    return Built(made["loss"], feed_of(name, model["FEED"]), partial(model["backward"], made))


def of_zoo(name: str) -> Built:
    """A model of the zoo, in the program that is being made: each of its tensors is one that is fed."""
    module = measured.loaded(name)
    net = module.network()
    feed: dict[str, np.ndarray] = {}

    def to_tensor(value: Any, dtype: Any = None, *_: Any, **__: Any) -> Any:
        array = np.asarray(value, None if dtype is None else str(dtype).rpartition(".")[2])
        array = array.astype("float32") if array.dtype == "float64" else array
        feed[f"fed_{len(feed)}"] = array
        return paddle.static.data(f"fed_{len(feed) - 1}", array.shape, str(array.dtype))

    original, paddle.to_tensor = paddle.to_tensor, to_tensor
    try:
        loss = module.loss(net)
    finally:
        paddle.to_tensor = original
    if isinstance(loss, dict):
        loss = sum(loss.values())
    return Built(loss, feed, partial(paddle.static.append_backward, loss))


def saved(name: str, out: Path, forward_only: bool = False) -> None:
    """Save one model: its training program, its forward part, what is fed and what comes.

    With *forward_only* the forward part alone is written, before it is differentiated.
    """
    paddle.enable_static()
    static = paddle.static
    main, startup = static.Program(), static.Program()
    out.mkdir(parents=True)
    place = paddle.CPUPlace()
    executor = static.Executor(place)
    with static.scope_guard(static.Scope()), paddle.utils.unique_name.guard(), static.program_guard(main, startup):
        loss, feed, backward = of_zoo(name.removeprefix("zoo_")) if name.startswith("zoo_") else of_oracle(name)
        inputs = [made_by(main, n) for n in feed]
        infer = partial(static.save_inference_model, str(out / "infer"), inputs, [loss], executor, program=main)
        if forward_only:
            executor.run(startup)
            initialize(name, main, place)
            infer()
        gradients = pairs(backward())
        if not forward_only:
            executor.run(startup)
            initialize(name, main, place)
            static.save(main, str(out / "train"))
            infer()
        # The files are written before anything runs: optimizers and statistics change what lies in the scope.
        values = executor.run(main, feed=feed, fetch_list=[loss, *gradients.values()])
    with static.scope_guard(static.Scope()):
        program, names, fetched = static.load_inference_model(str(out / "infer"), executor)
        inferred = executor.run(program, feed={n: feed[n] for n in names}, fetch_list=fetched)[0]
    arrays = {f"feed/{key}": value for key, value in feed.items()}
    arrays |= {f"grad/{key}": value for key, value in zip(gradients, values[1:], strict=True) if value is not None}
    if not paddle.get_flags("FLAGS_enable_pir_api")["FLAGS_enable_pir_api"]:  # else gradients have no names
        arrays |= {f"name/{key}": np.array(value.name) for key, value in gradients.items()}
    for path in out.glob("*.pdmodel"):
        path.write_bytes(elsewhere(path.read_bytes()))
    np.savez(out / "values.npz", loss=values[0], inferred=inferred, **arrays)


def initialize(name: str, program: Any, place: Any) -> None:
    """Give the parameters of a program values that follow from their names."""
    scope = paddle.static.global_scope()
    for v in sorted(variables(program), key=lambda v: v.name):
        tensor = scope.find_var(v.name)
        if tensor is None or not tensor.get_tensor()._is_initialized():
            continue
        array = np.array(tensor.get_tensor())
        if getattr(v, "is_parameter", False) and not v.stop_gradient and array.dtype.kind == "f":
            array = np.round(drawn(name, "param", v.name).uniform(-0.6, 0.6, array.shape), 4).astype(array.dtype)
            tensor.get_tensor().set(array, place)


def saved_layer(layer: Any, out: Path) -> None:
    """Save a layer of these files with ``paddle.jit.save``, and what it computes in dynamic mode."""
    name = type(layer).__name__
    out.mkdir(parents=True)
    for key, p in layer.named_parameters():
        p.set_value(np.round(drawn(name, key).uniform(-0.6, 0.6, p.shape), 4).astype("float32"))
    x = np.round(drawn(name, "x").uniform(-1.0, 1.0, (4, 3)), 4).astype("float32")
    loss = layer(paddle.to_tensor(x))
    loss.backward()
    gradients = {f"grad/{p.name}": p.grad.numpy() for p in layer.parameters() if p.grad is not None}
    spec = paddle.static.InputSpec([-1, 3], "float32", "x")
    paddle.jit.save(paddle.jit.to_static(layer, full_graph=True), str(out / "infer"), input_spec=[spec])
    np.savez(out / "values.npz", loss=loss.numpy(), inferred=loss.numpy(), **{"feed/x": x}, **gradients)


def elsewhere(data: bytes) -> bytes:
    """A description whose callstacks do not say where on this machine Paddle and the repository lie."""
    from importlib import import_module

    home = "paddle.base" if hasattr(paddle, "base") else "paddle.fluid"
    program = import_module(f"{home}.proto.framework_pb2").ProgramDesc.FromString(data)
    places = {sys.prefix: "/usr", str(Path(__file__).parents[2]): "/home/user/gradtool"}
    for attr in (a for block in program.blocks for op in block.ops for a in op.attrs if a.name == "op_callstack"):
        for i, line in enumerate(attr.strings):
            for here, there in places.items():
                line = line.replace(here, there)
            attr.strings[i] = line
    return program.SerializeToString()


def made_by(program: Any, name: str) -> Any:
    """What is fed under that name."""
    block = program.global_block()
    if hasattr(block, "has_var"):
        return block.var(name)
    return next(op.result(0) for op in block.ops if op.name() == "pd_op.data" and op.attrs()["name"] == name)


def main() -> None:
    """Save the models that the command line names; what Paddle itself refuses is told and left out."""
    out, *asked = sys.argv[1:]
    forward_only = "--forward" in asked
    layers = {layer.__name__: layer for layer in (*LAYERS, *SERVED)}
    for name in (n for n in asked if n != "--forward"):
        folder = Path(out) / name
        try:
            if name in layers:
                saved_layer(layers[name](), folder)
            else:
                saved(name, folder, forward_only)
            print(name, sorted(os.listdir(folder)), flush=True)
        except Exception as error:
            print(name, "LEFT OUT", type(error).__name__, str(error)[-300:].replace("\n", " "), flush=True)


if __name__ == "__main__":
    main()
