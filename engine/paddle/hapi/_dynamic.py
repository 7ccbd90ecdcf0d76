"""Dynamic mode of a :class:`paddle.Model`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtool import paddle
from gradtool.engine.eager.mode import no_grad
from gradtool.engine.eager.tensor import Tensor
from gradtool.paddle._creation import to_tensor

from ._errors import NotReadyError
from ._listing import listed

if TYPE_CHECKING:
    from ._model import Model


class Dynamic:
    """Steps that compute at once."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def prepare(self) -> None:
        """Narrow the parameters, where mixed precision asks for it."""
        self._model._precision.prepared(self._model.network, self._model._optimizer)

    def train(self, inputs: list[Any], labels: list[Any], update: bool) -> Any:
        """A step."""
        model = self._model
        model.network.train()
        model.mode = "train"
        if model._loss is None:
            raise NotReadyError("model not ready: there is no loss", hint="prepare(optimizer, loss) takes one")
        labels = _tensors(labels)
        with self._casting():
            outputs = listed(model.network(*_tensors(inputs)))
            losses = listed(model._loss(*outputs, *labels))
        total = _sum(losses)
        scaler = model._precision.scaler
        (total if scaler is None else scaler.scale(total)).backward()
        if update:
            if scaler is None:
                model._optimizer.step()
            else:
                scaler.step(model._optimizer)
                scaler.update()
            model._optimizer.clear_grad()
        return self._result(losses, outputs, labels)

    def evaluate(self, inputs: list[Any], labels: list[Any]) -> Any:
        """Loss and metrics, without gradients."""
        model = self._model
        model.network.eval()
        model.mode = "eval"
        labels = _tensors(labels)
        with no_grad(), self._casting():
            outputs = listed(model.network(*_tensors(inputs)))
            losses = [] if model._loss is None else listed(model._loss(*outputs, *labels))
            return self._result(losses, outputs, labels)

    def predict(self, inputs: list[Any]) -> list[Any]:
        """The outputs as arrays."""
        self._model.network.eval()
        self._model.mode = "test"
        with no_grad(), self._casting():
            return [_array(v) for v in listed(self._model.network(*_tensors(inputs)))]

    def save(self, path: str) -> None:
        """Write the parameters, and what the optimizer keeps."""
        paddle.save(self._model.network.state_dict(), path + ".pdparams")
        state = {} if self._model._optimizer is None else self._model._optimizer.state_dict()
        if state:
            paddle.save(state, path + ".pdopt")

    def load_optimizer(self, state: dict[str, Any]) -> None:
        """Load the state of the optimizer."""
        self._model._optimizer.set_state_dict(state)

    def _casting(self) -> Any:
        precision = self._model._precision
        return nullcontext() if precision.level == "O0" else precision.casting()

    def _result(self, losses: Sequence[Any], outputs: list[Any], labels: list[Any]) -> Any:
        measures = []
        for metric in self._model._metrics:
            with no_grad():
                parts = listed(metric.compute(*outputs, *labels))
            measures.append(metric.update(*[_array(p) for p in parts]))
        arrays = [_array(loss) for loss in losses]
        return (arrays, measures) if self._model._metrics else arrays


def _tensors(values: Sequence[Any]) -> list[Any]:
    return [value if isinstance(value, Tensor) else to_tensor(value) for value in values]


def _array(value: Any) -> Any:
    return value.numpy() if isinstance(value, Tensor) else np.asarray(value)


def _sum(losses: Sequence[Any]) -> Any:
    total = losses[0]
    for loss in losses[1:]:
        total = total + loss
    return total
