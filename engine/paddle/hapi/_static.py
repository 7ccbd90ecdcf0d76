"""Static mode of a :class:`paddle.Model`: a program for each of training, evaluating and predicting."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradtool import paddle
from gradtool.engine.core.errors import UsageError
from gradtool.engine.executor.executor import Executor
from gradtool.engine.executor.scope import global_scope
from gradtool.engine.ir.default import default_main_program, default_startup_program, program_guard
from gradtool.engine.ir.program import Program

from ._errors import NotReadyError
from ._listing import listed

if TYPE_CHECKING:
    from ._model import Model


class Built(NamedTuple):
    """A program with what goes in and what comes out.

    Attributes:
        metrics: of each metric, what its ``update`` takes.
    """

    program: Program
    inputs: list[Any]
    labels: list[Any]
    outputs: list[Any]
    losses: list[Any]
    metrics: list[list[Any]]


class Static:
    """Steps that run programs.

    Attributes:
        executor: runs them.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._origin = default_main_program()
        self._start = default_startup_program()
        self._built: dict[str, Built] = {}
        self.executor = Executor()

    def prepare(self) -> None:
        """Forget programs that were built with other losses and metrics.

        Raises:
            UsageError: mixed precision, which is not part of this in static mode.
        """
        if self._model._precision.level != "O0":
            raise UsageError(
                "paddle.Model: amp_configs in static mode is not part of this version of gradtool.",
                hint="use dynamic mode, or paddle.static.amp and a loop of your own",
            )
        self._built.clear()
        self._set_up(self._start, self._origin.all_parameters())

    def train(self, inputs: list[Any], labels: list[Any], update: bool) -> Any:
        """A step.

        Raises:
            NotReadyError: without *update*, or there is no loss (an AssertionError).
        """
        if not update:
            raise NotReadyError("Does not support `update == False` in static graph mode by now.")
        if self._model._loss is None:
            raise NotReadyError("model not ready: there is no loss", hint="prepare(optimizer, loss) takes one")
        self._model.mode = "train"
        return self._result(self._program("train"), inputs, labels)

    def evaluate(self, inputs: list[Any], labels: list[Any]) -> Any:
        """Loss and metrics, without gradients."""
        self._model.mode = "eval"
        return self._result(self._program("eval"), inputs, labels)

    def predict(self, inputs: list[Any]) -> list[Any]:
        """The outputs as arrays."""
        self._model.mode = "test"
        built = self._program("test")
        return self._run(built, inputs, [], built.outputs)

    def save(self, path: str) -> None:
        """Write the parameters, and what the optimizer keeps."""
        scope = global_scope()
        names = {name: v.name for name, v in self._model.network.state_dict().items()}
        values = {name: np.asarray(scope.find_var(inner).get_tensor()) for name, inner in names.items()}  # type: ignore[union-attr]
        paddle.save(values, path + ".pdparams")
        if "train" in self._built:
            state = self._built["train"].program.state_dict("opt")
            if state:
                paddle.save({name: np.asarray(v) for name, v in state.items()}, path + ".pdopt")

    def load_optimizer(self, state: dict[str, Any]) -> None:
        """Load the state of the optimizer."""
        self._program("train").program.set_state_dict(state)

    def for_predicting(self) -> tuple[Program, list[Any], list[Any]]:
        """The program that predicts, with what goes in and what comes out."""
        built = self._program("test")
        return built.program, built.inputs, built.outputs

    def _program(self, mode: str) -> Built:
        if mode not in self._built:
            self._built[mode] = self._build(mode)
        return self._built[mode]

    def _build(self, mode: str) -> Built:
        model = self._model
        program, start = self._origin.clone(), Program()
        model.network.train() if mode == "train" else model.network.eval()
        with program_guard(program, start), _parameters_of(model.network, program):
            inputs = [paddle.static.data(s.name, s.shape, s.dtype) for s in model._inputs]
            labels = [paddle.static.data(s.name, s.shape, s.dtype) for s in model._labels if mode != "test"]
            outputs = listed(model.network(*inputs))
            losses: list[Any] = []
            metrics: list[list[Any]] = []
            if mode != "test":
                losses = [] if model._loss is None else listed(model._loss(*outputs, *labels))
                metrics = [listed(metric.compute(*outputs, *labels)) for metric in model._metrics]
            if mode == "train":
                total = losses[0] if len(losses) == 1 else paddle.add_n([paddle.mean(loss) for loss in losses])
                model._optimizer.minimize(total, parameters=[p.name for p in model._optimizer._parameters or ()])
        self._set_up(start, program.list_vars())
        return Built(program, inputs, labels, outputs, losses, metrics)

    def _set_up(self, start: Program, variables: Any) -> None:
        """Give first values to those that have none."""
        scope = global_scope()
        ready = {v.name: _value(scope, v.name) for v in variables}
        self.executor.run(start)
        for name, value in ready.items():
            if value is not None:
                scope.var(name).get_tensor().set(value)

    def _run(self, built: Built, inputs: list[Any], labels: list[Any], wanted: list[Any]) -> list[Any]:
        feeds = [*zip(built.inputs, inputs, strict=False), *zip(built.labels, labels, strict=False)]
        feed = {variable.name: np.asarray(value) for variable, value in feeds}
        return self.executor.run(built.program, feed=feed, fetch_list=wanted)

    def _result(self, built: Built, inputs: list[Any], labels: list[Any]) -> Any:
        wanted = [*built.losses, *(v for parts in built.metrics for v in parts)]
        values = self._run(built, inputs, labels, wanted)
        losses, rest = values[: len(built.losses)], iter(values[len(built.losses) :])
        measures = [
            metric.update(*[next(rest) for _ in parts])
            for metric, parts in zip(self._model._metrics, built.metrics, strict=True)
        ]
        return (losses, measures) if self._model._metrics else losses


@contextmanager
def _parameters_of(network: Any, program: Program) -> Iterator[None]:
    """Let the layers of *network* hold the variables of *program* with the names of their own."""
    held: list[tuple[dict[str, Any], dict[str, Any]]] = []
    block = program.global_block()
    for layer in network.sublayers(include_self=True):
        for values in (layer._parameters, layer._buffers):
            held.append((values, dict(values)))
            values.update({name: block.var(v.name) for name, v in values.items() if v is not None})
    try:
        yield
    finally:
        for values, before in held:
            values.update(before)


def _value(scope: Any, name: str) -> Any:
    """A copy of the value, None where there is none."""
    variable = scope.find_var(name)
    if variable is None or not variable.get_tensor()._is_initialized():
        return None
    return np.array(variable.get_tensor())
