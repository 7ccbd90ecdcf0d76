"""Runs programs of text with Paddle or gradtool as ``paddle`` and says what came of them, as JSON.

One file for both sides, without any import of this repository, so that a peer's Python can run it: ``python driver.py
MODULE`` reads a program (a JSON string) per line and answers with a line. A program is lines of Python after a first
line that names its mode::

    # eager
    x0 = tensor("float32", [2], [1.0, nan])
    v0 = paddle.exp(x0)
    backward("v0")
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import zlib
from typing import Any

import numpy as np

FLOATS = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
ENDINGS = ("backward", "grad", "gradients", "append_backward")


def pattern(shape: Any, key: str = "") -> Any:
    """Numbers that are small, never zero and mostly different: for parameters and what backward starts from."""
    count = int(np.prod(shape))
    return (((np.arange(count) * 7 + zlib.crc32(key.encode()) % 11) % 11 - 5) / 8 + 1 / 16).reshape(shape)


def dtype_name(dtype: Any) -> str:
    return str(dtype).rpartition(".")[2].lower()


def plain(array: Any) -> dict[str, Any]:
    """An array as its dtype, shape and a flat list; numbers as short as their dtype lets them be."""
    array = np.asarray(array)
    name = str(array.dtype)
    flat = array.reshape(-1)
    if flat.dtype.kind == "c":
        flat = flat.view(flat.real.dtype)
    if flat.dtype.kind not in "biuf":
        flat = flat.astype("float32")
    numbers = [float(str(v)) for v in flat] if flat.dtype.kind == "f" else flat.tolist()
    return {"dtype": name, "shape": list(array.shape), "values": numbers}


def message(error: Exception) -> str:
    """What an exception says, without the traceback in C++ that Paddle puts before it."""
    whole = str(error).rpartition("Error Message Summary:")[2].lstrip("\n- ").strip()
    if "In user code:" in whole:
        whole = whole[max(whole.find("Error: "), 0) :]
    return whole[:300]


def states(layer: Any) -> dict[str, Any]:
    """Parameters and buffers of a layer by name; what it keeps for random numbers left out."""
    named = [*layer.named_parameters(), *layer.named_buffers()]
    return {name: state for name, state in named if "dropout_state" not in name}


class Run:
    """One program: its values by name, and what is to be said of them."""

    def __init__(self, paddle: Any, text: str) -> None:
        self.paddle = paddle
        head, *self.lines = text.strip().splitlines()
        self.static = "static" in head
        self.values: dict[str, Any] = {}
        self.leaves: dict[str, Any] = {}
        self.layers: dict[str, Any] = {}
        self.feeds: dict[str, Any] = {}
        self.grads: dict[str, Any] = {}
        self.runs = 1
        self.target = ""
        self.answer: dict[str, Any] = {"values": {}, "grads": {}, "refused": None}
        self.names = {
            "paddle": paddle,
            "np": np,
            "nan": float("nan"),
            "inf": float("inf"),
            "tensor": self.tensor,
            "filled": self.filled,
            "train": self.train,
            "backward": self.backward,
            "grad": self.grad,
            "gradients": self.gradients,
            "append_backward": self.append_backward,
        }

    # What lines may call.

    def tensor(self, dtype: str, shape: list[int], values: list[Any], grad: bool = False, unknown: Any = ()) -> Any:
        """An operand. In static mode it is fed, and the dimensions `unknown` are not told to the program."""
        array = np.array(values, dtype).reshape(shape)
        if self.static:
            declared = [-1 if i in unknown else n for i, n in enumerate(shape)]
            out = self.paddle.static.data(self.target, declared, dtype)
            out.stop_gradient = not grad
            self.feeds[self.target] = array
        else:
            out = self.paddle.to_tensor(array, stop_gradient=not grad)
        if grad:
            self.leaves[self.target] = out
        return out

    def filled(self, layer: Any) -> Any:
        """A layer whose parameters have fixed values (in static mode they get them after the startup program)."""
        if not self.static:
            for name, state in states(layer).items():
                state.set_value(self.fill(name, state.shape, dtype_name(state.dtype)))
        self.layers[self.target] = layer
        return layer

    def fill(self, name: str, shape: Any, dtype: str) -> Any:
        array = pattern(shape, name)
        if "variance" in name or name.endswith(".w_2"):
            array = np.abs(array)
        return array.astype(dtype)

    def train(self, optimizer: Any, loss: Any, steps: int = 2, schedule: Any = None) -> Any:
        """Some steps of training; in static mode ``minimize``, and the program is run as often."""
        if self.static:
            self.runs = steps
            out = loss()
            optimizer.minimize(out)
            return out
        losses = []
        for _ in range(steps):
            out = loss()
            out.backward()
            optimizer.step()
            optimizer.clear_grad()
            if schedule is not None:
                schedule.step()
            losses.append(out)
        return losses

    def chosen(self, names: Any) -> list[Any]:
        """The tensors among some values that a gradient can start from."""
        out = []
        for name in names:
            value = self.values[name]
            items = value if isinstance(value, (list, tuple)) else [value]
            out += [v for v in items if self.differentiable(v)]
        return out

    def differentiable(self, value: Any) -> bool:
        if not hasattr(value, "stop_gradient"):
            return False
        return not value.stop_gradient and dtype_name(value.dtype) in FLOATS

    def seeds(self, tensors: list[Any]) -> list[Any]:
        arrays = [pattern(t.shape) for t in tensors]
        return [self.paddle.to_tensor(a).astype(dtype_name(t.dtype)) for a, t in zip(arrays, tensors, strict=True)]

    def backward(self, *names: str, retain: Any = ()) -> None:
        for name in retain:
            if self.differentiable(self.values[name]):
                self.values[name].retain_grads()
        tensors = self.chosen(names)
        if tensors:
            self.paddle.autograd.backward(tensors, self.seeds(tensors))
        leaves = dict(self.leaves)
        for layer, module in self.layers.items():
            leaves.update({f"{layer}.{n}": p for n, p in module.named_parameters()})
        leaves.update({n: self.values[n] for n in retain if hasattr(self.values[n], "grad")})
        self.grads = {n: t.grad for n, t in leaves.items()}

    def grad(self, outputs: list[str], inputs: list[str], order: int = 1) -> None:
        out, into = self.chosen(outputs), [self.values[n] for n in inputs]
        for step in range(order):
            if not out:
                return
            out = self.paddle.grad(out, into, self.seeds(out), create_graph=step + 1 < order, allow_unused=True)
            self.grads.update({f"{n} {step + 1}": g for n, g in zip(inputs, out, strict=True)})
            out = [g for g in out if g is not None and self.differentiable(g)]

    def gradients(self, targets: list[str], inputs: list[str], seeded: bool = True) -> None:
        """``paddle.static.gradients``, from seeds of a pattern where the shape is known."""
        chosen = self.chosen(targets)
        if not chosen:
            return
        starts: list[Any] | None = None
        if seeded and all(n >= 0 for t in chosen for n in t.shape):
            starts = []
            for i, target in enumerate(chosen):
                name, dtype = f"seed{i}", dtype_name(target.dtype)
                starts.append(self.paddle.static.data(name, list(target.shape), dtype))
                self.feeds[name] = pattern(target.shape).astype(dtype)
        into = [self.values[n] for n in inputs]
        # Paddle leaves out what has none where all have none.
        self.grads = dict.fromkeys(inputs) | dict(
            zip(inputs, self.paddle.static.gradients(chosen, into, starts), strict=False)
        )

    def append_backward(self, target: str, parameter_list: Any = None, no_grad_set: Any = None) -> None:
        chosen = self.chosen([target])
        if not chosen:
            return
        loss = self.paddle.mean(chosen[0])
        listed = None if parameter_list is None else [self.values.get(n, n) for n in parameter_list]
        frozen = None if no_grad_set is None else {self.values[n].name for n in no_grad_set}
        pairs = self.paddle.static.append_backward(loss, listed, frozen)
        self.grads = {p.name: g for p, g in pairs}

    # Running.

    def lead(self) -> dict[str, Any]:
        try:
            (self.in_static_mode if self.static else self.in_eager_mode)()
        except Exception as error:
            self.refuse("setup", error)
        return self.answer

    def refuse(self, where: int | str, error: Exception) -> None:
        self.answer["refused"] = {"at": where, "class": type(error).__name__, "message": message(error)}

    def build(self) -> bool:
        """Whether all lines could be run; what they gave is in `values`."""
        for index, line in enumerate(self.lines):
            name, equals, expression = line.partition(" = ")
            ending = line.partition("(")[0] in ENDINGS
            self.target = "" if ending or not equals else name
            try:
                if ending:
                    self.settle()
                    eval(line, self.names, self.values)
                elif name.isidentifier() and equals:
                    self.values[name] = eval(expression, self.names | self.values)
                else:
                    exec(line, self.names, self.values)
            except Exception as error:
                self.refuse("ending" if ending else index, error)
                return False
            self.count()
        return True

    def count(self) -> None:
        """How many operators the program has after a line."""
        if self.static:
            built = len(self.paddle.static.default_main_program().global_block().ops)
            self.answer.setdefault("built", []).append(built)

    def settle(self) -> None:
        """Values are told as they are before gradients are asked for."""
        if not self.static and not self.answer["values"]:
            self.tell_values()

    def tell_values(self) -> None:
        told = {n: v for n, v in self.values.items() if n not in self.leaves and n not in self.layers}
        self.answer["values"] = {n: self.told(v) for n, v in told.items()}

    def in_eager_mode(self) -> None:
        self.paddle.disable_static()
        self.paddle.seed(0)
        with self.paddle.utils.unique_name.guard():
            self.build()
            self.settle()
            self.answer["grads"] = {n: self.told(g) for n, g in self.grads.items()}
            for name, layer in self.layers.items():
                self.answer["values"].update({f"{name}.{n}": self.told(s) for n, s in states(layer).items()})

    def told(self, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return {"is": "list" if isinstance(value, list) else "tuple", "items": [self.told(v) for v in value]}
        if hasattr(value, "stop_gradient"):
            stopped = bool(value.stop_gradient)
            return plain(self.read(value)) | {"dtype": dtype_name(value.dtype), "stop": stopped}
        if isinstance(value, (np.ndarray, np.generic)):
            return plain(value)
        if value is None:
            return None
        for kind in (bool, int, float, str):
            if isinstance(value, kind):
                return {"is": kind.__name__, "value": kind(value)}
        return {"is": type(value).__name__.lower()}

    def read(self, tensor: Any) -> Any:
        if dtype_name(tensor.dtype) == "bfloat16":
            return tensor.detach().astype("float32").numpy()
        return tensor.numpy()

    def in_static_mode(self) -> None:
        static = self.paddle.static
        self.paddle.enable_static()
        main, startup, scope = static.Program(), static.Program(), static.Scope()
        main.random_seed = startup.random_seed = 1
        with self.paddle.utils.unique_name.guard(), static.program_guard(main, startup), static.scope_guard(scope):
            complete = self.build()
            self.answer["ops"] = [
                f"{op.type} {' '.join(sorted(op.input_arg_names))} -> {' '.join(sorted(op.output_arg_names))}"
                for block in main.blocks
                for op in block.ops
            ]
            if complete:
                self.run(main, startup, scope)

    def run(self, main: Any, startup: Any, scope: Any) -> None:
        variables: dict[str, Any] = {}
        for name, value in self.values.items():
            if name not in self.leaves and name not in self.layers:
                self.flatten(name, value, variables)
        gradients = {n: g for n, g in self.grads.items() if g is not None}
        declared = {**variables, **{f"{n}@": g for n, g in gradients.items()}}
        self.answer["declared"] = {
            n: [dtype_name(v.dtype), list(v.shape), bool(v.stop_gradient)] for n, v in declared.items()
        }
        try:
            executor = self.paddle.static.Executor(self.paddle.CPUPlace())
            executor.run(startup)
            # What Paddle's recurrent layers put their weights into is the same memory once more.
            flat = {n for op in startup.blocks[0].ops if op.type == "coalesce_tensor" for n in op.output("FusedOutput")}
            for parameter in main.all_parameters():
                if parameter.name in flat:
                    continue
                array = self.fill(parameter.name, parameter.shape, dtype_name(parameter.dtype))
                scope.find_var(parameter.name).get_tensor().set(array, self.paddle.CPUPlace())
            for _ in range(self.runs):
                fetched = executor.run(main, feed=self.feeds, fetch_list=list(declared.values()))
        except Exception as error:
            self.refuse("run", error)
            return
        arrays = dict(zip(declared, fetched, strict=True))
        self.answer["values"] = {n: plain(arrays[n]) for n in variables}
        told = {n: arrays[f"{n}@"] for n in gradients}
        self.answer["grads"] = {n: None if told.get(n) is None else plain(told[n]) for n in self.grads}
        if self.runs > 1:
            for parameter in main.all_parameters():
                if parameter.name in flat:
                    continue
                state = np.array(scope.find_var(parameter.name).get_tensor())
                self.answer["values"][parameter.name] = plain(state)

    def flatten(self, name: str, value: Any, into: dict[str, Any]) -> None:
        """The variables in a value, by names such as ``v0.1``; other things are told as they are."""
        if isinstance(value, (list, tuple)):
            for i, item in enumerate(value):
                self.flatten(f"{name}.{i}", item, into)
        elif hasattr(value, "stop_gradient"):
            into[name] = value


def answered(paddle: Any, text: str) -> dict[str, Any]:
    """What came of a program: values, gradients, in static mode operators and declarations, or who refused what."""
    return Run(paddle, text).lead()


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    paddle = importlib.import_module(sys.argv[1])
    for line in sys.stdin:
        answers.write(json.dumps(answered(paddle, json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
