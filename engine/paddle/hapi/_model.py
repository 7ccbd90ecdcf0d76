"""``paddle.Model``: a network that trains, evaluates and predicts by itself."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from gradtool import paddle
from gradtool.engine.core.errors import ArgumentTypeError, UsageError
from gradtool.engine.core.state import in_static_mode
from gradtool.paddle._summary import summary
from gradtool.paddle.io import DataLoader, Dataset, DistributedBatchSampler
from gradtool.paddle.metric import Metric
from gradtool.paddle.nn import Layer
from gradtool.paddle.static import InputSpec
from gradtool.paddle.static._saving import save_inference_model

from ._callbacks import Callback, CallbackList, EarlyStopping, LRScheduler, ModelCheckpoint, ProgBarLogger
from ._dynamic import Dynamic
from ._errors import NotReadyError, SkippedWarning
from ._listing import listed
from ._precision import Precision
from ._static import Static

Batch = tuple[list[Any], list[Any]]


class Model:
    """A network with what training it takes; it works in both modes.

    Args:
        network: what computes.
        inputs: what it is called with, as :class:`paddle.static.InputSpec`; needed in static mode.
        labels: what the loss is called with besides; needed in static mode where there are labels.

    Attributes:
        network: the network.
        mode: ``"train"``, ``"eval"`` or ``"test"``: what it did last.
        stop_training: set by callbacks; :meth:`fit` ends after the step or epoch, a later one after an epoch.

    Raises:
        ArgumentTypeError: static mode without *inputs* (a TypeError).

    >>> from gradtool import paddle
    >>> model = paddle.Model(paddle.nn.Linear(2, 1))
    >>> model.prepare(paddle.optimizer.SGD(0.1, parameters=model.parameters()), paddle.nn.MSELoss())
    >>> rows = paddle.io.TensorDataset([paddle.rand([8, 2]), paddle.rand([8, 1])])
    >>> model.fit(rows, batch_size=4, epochs=2, verbose=0)
    >>> list(model.evaluate(rows, batch_size=4, verbose=0))
    ['loss']
    """

    def __init__(self, network: Layer, inputs: Any = None, labels: Any = None) -> None:
        if not isinstance(network, Layer):
            raise ArgumentTypeError(
                f"paddle.Model: network must be a paddle.nn.Layer, but received {type(network).__name__}."
            )
        self.mode = "train"
        self.network = network
        self.stop_training = False
        self._inputs = _specs(inputs, network, is_input=True)
        self._labels = _specs(labels, network, is_input=False)
        self._loss: Callable[..., Any] | None = None
        self._optimizer: Any = None
        self._metrics: list[Metric] = []
        self._precision = Precision({})
        self._prepared = False
        self._logs: dict[str, Any] = {}
        self._shapes: list[tuple[list[int], str]] = []
        self._adapter: Dynamic | Static = Static(self) if in_static_mode() else Dynamic(self)

    def prepare(self, optimizer: Any = None, loss: Any = None, metrics: Any = None, amp_configs: Any = None) -> None:
        """Take what training and evaluating needs.

        Args:
            loss: a layer or function of the outputs and the labels; what it returns is summed where it is several.
            metrics: what is measured besides.
            amp_configs: the level of mixed precision, ``"O1"`` or ``"O2"``, or a dict of ``level`` and arguments of
                :func:`paddle.amp.auto_cast` and :class:`paddle.amp.GradScaler`.

        Raises:
            ArgumentTypeError: a loss that cannot be called (a TypeError).
            NotReadyError: a metric that is none (an AssertionError).
            UsageError: *amp_configs* that mean nothing (a ValueError).
        """
        if loss is not None and not callable(loss):
            raise ArgumentTypeError("'loss' must be sub classes of `paddle.nn.Layer` or any callable function.")
        for metric in listed(metrics):
            if not isinstance(metric, Metric):
                raise NotReadyError(f"{type(metric).__name__} is not sub class of Metric")
        self._optimizer = optimizer
        self._loss = loss
        self._metrics = listed(metrics)
        self._precision = Precision.of(amp_configs)
        self._prepared = True
        self._adapter.prepare()

    def train_batch(self, inputs: Any, labels: Any = None, update: bool = True) -> Any:
        """One step: forward, backward, and unless *update* is False the optimizer's.

        Returns:
            The losses as arrays; with metrics, a tuple of them and of the metrics.

        Raises:
            NotReadyError: no optimizer was prepared (an AssertionError).
        """
        self._ready(self._optimizer)
        return self._adapter.train(listed(inputs), listed(labels), update)

    def eval_batch(self, inputs: Any, labels: Any = None) -> Any:
        """Losses and metrics of a batch, without gradients; in the form of :meth:`train_batch`."""
        return self._adapter.evaluate(listed(inputs), listed(labels))

    def predict_batch(self, inputs: Any) -> list[Any]:
        """The outputs of the network as arrays."""
        return self._adapter.predict(listed(inputs))

    def parameters(self, *args: Any, **kwargs: Any) -> list[Any]:
        """Those of the network."""
        parameters: list[Any] = self.network.parameters(*args, **kwargs)
        return parameters

    def summary(self, input_size: Any = None, dtype: Any = None) -> dict[str, int]:
        """Print a table of the layers, as :func:`paddle.summary` does.

        Args:
            input_size: the shape of the input; that of *inputs* when None.

        Raises:
            NotReadyError: neither is there (an AssertionError).
        """
        size = input_size if input_size is not None else [tuple(s.shape) for s in self._inputs if s.shape is not None]
        if not size:
            raise NotReadyError("'input_size' or 'self._input' must be set")
        return summary(self.network, size, dtypes=dtype)

    def save(self, path: str, training: bool = True) -> None:
        """Write parameters to ``path.pdparams`` and what the optimizer keeps, if anything, to ``path.pdopt``.

        Args:
            training: False writes the network for predicting instead, as :func:`paddle.jit.save` does.

        Raises:
            UsageError: the network is to be saved for predicting, and nobody knows what it is called with.
        """
        if training:
            self._adapter.save(path)
            return
        self._save_for_predicting(path)

    def load(self, path: str, skip_mismatch: bool = False, reset_optimizer: bool = False) -> None:
        """Read what :meth:`save` wrote.

        Args:
            path: with or without the ending.
            skip_mismatch: leave parameters out that are missing or have another shape, with a warning.
            reset_optimizer: leave what the optimizer kept.

        Raises:
            NotReadyError: there is no such file (an AssertionError).
            UsageError: a parameter is missing or has another shape (a ValueError).
        """
        stem = path.removesuffix(".pdparams").removesuffix(".pdopt")
        if not os.path.exists(stem + ".pdparams"):
            raise NotReadyError(
                "Failed to load parameters, please check path.", hint=f"there is no file {stem}.pdparams"
            )
        state = paddle.load(stem + ".pdparams")
        self.network.set_state_dict(dict(self._fitting(state, skip_mismatch)))
        if self._optimizer is not None and not reset_optimizer and os.path.exists(stem + ".pdopt"):
            self._adapter.load_optimizer(paddle.load(stem + ".pdopt"))

    def fit(
        self,
        train_data: Any = None,
        eval_data: Any = None,
        batch_size: Any = 1,
        epochs: int = 1,
        eval_freq: int = 1,
        log_freq: int = 10,
        save_dir: str | None = None,
        save_freq: int = 1,
        verbose: int = 2,
        drop_last: bool = False,
        shuffle: bool = True,
        num_workers: int = 0,
        callbacks: Any = None,
        accumulate_grad_batches: int = 1,
        num_iters: int | None = None,
    ) -> None:
        """Train.

        Args:
            train_data: a data set, a loader, or anything that gives batches.
            eval_data: what to evaluate with after each *eval_freq* epochs.
            batch_size: of data sets; two numbers: for training and for evaluating.
            log_freq: after how many steps something is printed.
            save_dir: the folder to save to after each *save_freq* epochs, and at the end.
            verbose: 0: print nothing; 1: a line that is written over; 2: lines.
            shuffle: read a data set in another order in each epoch.
            accumulate_grad_batches: update after so many steps.
            num_iters: end after so many steps.

        Raises:
            NotReadyError: no data, or no optimizer (an AssertionError).
        """
        if train_data is None:
            raise NotReadyError("train_data must be given!")
        sizes = list(batch_size) if isinstance(batch_size, (list, tuple)) else [batch_size, batch_size]
        loader = _loader(train_data, sizes[0], shuffle, drop_last, num_workers)
        tests = _loader(eval_data, sizes[1], False, False, num_workers) if eval_data is not None else None
        steps = _steps(loader, num_iters)
        if num_iters is not None and steps is not None:
            epochs = _epochs(num_iters, len(loader))
        calls = self._callbacks(callbacks, epochs, steps, log_freq, verbose, save_dir, save_freq)
        if tests is None and any(isinstance(c, EarlyStopping) for c in calls):
            warnings.warn("EarlyStopping needs validation data.", SkippedWarning, stacklevel=2)
        loop = _Loop(self, calls, accumulate_grad_batches, num_iters)
        calls.call("train_begin", None)
        for epoch in range(epochs):
            calls.call("epoch_begin", epoch, None)
            logs = loop.run(loader, "train")
            calls.call("epoch_end", epoch, logs)
            if tests is not None and epoch % eval_freq == 0:
                logs = loop.evaluate(tests)
            if self.stop_training:
                break
        calls.call("train_end", loop.logs)

    def evaluate(
        self,
        eval_data: Any,
        batch_size: int = 1,
        log_freq: int = 10,
        verbose: int = 2,
        num_workers: int = 0,
        callbacks: Any = None,
        num_iters: int | None = None,
    ) -> dict[str, Any]:
        """Loss of the last batch and metrics of all.

        Args:
            eval_data, batch_size, log_freq, verbose, num_iters: as :meth:`fit` has them.
        """
        loader = _loader(eval_data, batch_size, False, False, num_workers)
        calls = self._callbacks(callbacks, None, _steps(loader, None), log_freq, verbose)
        loop = _Loop(self, calls, 1, None)
        logs = loop.evaluate(loader, num_iters)
        return {name: logs[name] for name in self._names() if name in logs}

    def predict(
        self,
        test_data: Any,
        batch_size: int = 1,
        num_workers: int = 0,
        stack_outputs: bool = False,
        verbose: int = 1,
        callbacks: Any = None,
    ) -> list[Any]:
        """The outputs for each batch: a list for each output of the network, of arrays.

        Args:
            test_data: what the network is called with; labels after it are left out.
            stack_outputs: one array for each output instead, along the first dimension.
        """
        loader = _loader(test_data, batch_size, False, False, num_workers)
        calls = self._callbacks(callbacks, None, _steps(loader, None), 2, verbose)
        loop = _Loop(self, calls, 1, None)
        calls.call("predict_begin", {"steps": _steps(loader, None)})
        loop.run(loader, "predict")
        calls.call("predict_end", loop.logs)
        outputs = [tuple(parts) if not stack_outputs else np.vstack(parts) for parts in zip(*loop.outputs, strict=True)]
        return outputs

    def _ready(self, needed: Any) -> None:
        if not self._prepared or needed is None:
            raise NotReadyError("model not ready, please call `model.prepare()` first")

    def _names(self) -> list[str]:
        """Return the names that are printed: the loss, and the metrics."""
        names = ["loss"] if self._loss is not None else []
        for metric in self._metrics:
            names += listed(metric.name())
        return names

    def _split(self, data: Any) -> Batch:
        """Return the arguments of the network and those of the loss."""
        fields = list(_flat(data))
        count = len(self._inputs)
        self._shapes = [(list(np.shape(f)), str(getattr(f, "dtype", "float32"))) for f in fields[:count]]
        return fields[:count], fields[count:]

    def _callbacks(
        self,
        callbacks: Any,
        epochs: int | None,
        steps: int | None,
        log_freq: int,
        verbose: int,
        save_dir: str | None = None,
        save_freq: int = 1,
    ) -> CallbackList:
        """The user's, and those that are always there."""
        calls: list[Callback] = listed(callbacks)
        if not any(isinstance(c, ProgBarLogger) for c in calls) and verbose:
            calls = [ProgBarLogger(log_freq, verbose=verbose), *calls]
        if not any(isinstance(c, LRScheduler) for c in calls):
            calls = [*calls, LRScheduler()]
        if not any(isinstance(c, ModelCheckpoint) for c in calls):
            calls = [*calls, ModelCheckpoint(save_freq, save_dir)]
        for call in calls:
            if isinstance(call, EarlyStopping):
                call.save_dir = save_dir
        whole = CallbackList(calls)
        whole.set_model(self)
        whole.set_params(
            {"batch_size": None, "epochs": epochs, "steps": steps, "verbose": verbose, "metrics": self._names()}
        )
        return whole

    def _fitting(self, state: dict[str, Any], skip: bool) -> Iterator[tuple[str, Any]]:
        """Yield the entries of a file that are to be loaded."""
        for name, own in self.network.state_dict().items():
            problem = None
            if name not in state:
                problem = f"{name} is not found in the provided file."
            elif list(state[name].shape) != list(own.shape):
                problem = (
                    f"{name} receives a shape {list(state[name].shape)}, but the expected shape is {list(own.shape)}."
                )
            if problem is None:
                yield name, state[name]
            elif skip:
                warnings.warn(f"Skip loading for {name}. {problem}", SkippedWarning, stacklevel=3)
            else:
                raise UsageError(problem)

    def _save_for_predicting(self, path: str) -> None:
        if isinstance(self._adapter, Static):
            program, feeds, outputs = self._adapter.for_predicting()
            save_inference_model(path, feeds, outputs, self._adapter.executor, program=program)
            return
        specs = [s for s in self._inputs if s.shape is not None]
        if not specs:
            if not self._shapes:
                raise UsageError(
                    "Saving inference model needs 'inputs' or running before saving. Please specify 'inputs' in Model "
                    "initialization or input training data and perform a training for shape derivation."
                )
            specs = [InputSpec(shape, kind) for shape, kind in self._shapes]
            warnings.warn(
                "'inputs' was not specified when Model initialization, so the input shape to be saved will be the "
                "shape derived from the user's actual inputs. "
                f"The input shape to be saved is {[s for s, _ in self._shapes]}.",
                SkippedWarning,
                stacklevel=3,
            )
        paddle.jit.save(self.network, path, input_spec=specs)


class _Loop:
    """Steps over batches, and what callbacks are told.

    Attributes:
        logs: loss and metrics after the last step.
        outputs: of predictions, those of each batch.
    """

    def __init__(self, model: Model, calls: CallbackList, accumulate: int, left: int | None) -> None:
        self.model = model
        self.calls = calls
        self.accumulate = accumulate
        self.left = left
        self.logs: dict[str, Any] = model._logs
        self.outputs: list[list[Any]] = []

    def evaluate(self, loader: Any, limit: int | None = None) -> dict[str, Any]:
        """Go through the batches, without training."""
        steps = _steps(loader, limit)
        self.calls.call("eval_begin", {"steps": steps, "metrics": self.model._names()})
        before, self.left = self.left, limit
        try:
            logs = self.run(loader, "eval", stops=False)
        finally:
            self.left = before
        self.calls.call("eval_end", logs)
        return logs

    def run(self, loader: Iterable[Any], mode: str, stops: bool = True) -> dict[str, Any]:
        """Go through the batches once."""
        model = self.model
        for metric in model._metrics:
            metric.reset()
        total = _steps(loader, None)
        moment = "train" if mode == "train" else mode
        for step, data in enumerate(loader):
            inputs, labels = model._split(data)
            size = int(np.shape(inputs[0])[0]) if inputs and np.ndim(inputs[0]) else 1
            self.calls.call(f"{moment}_batch_begin", step, self.logs)
            values = self._step(mode, inputs, labels, step, total)
            self.logs = model._logs = {**(values if mode != "predict" else self.logs), "step": step, "batch_size": size}
            self.calls.call(f"{moment}_batch_end", step, self.logs)
            if self.left is not None and mode != "predict":
                self.left -= 1
                if self.left <= 0:
                    model.stop_training = stops or model.stop_training
                    break
        return self.logs

    def _step(self, mode: str, inputs: list[Any], labels: list[Any], step: int, total: int | None) -> dict[str, Any]:
        model = self.model
        if mode == "predict":
            self.outputs.append(model.predict_batch(inputs))
            return {}
        if mode == "train":
            update = (step + 1) % self.accumulate == 0 or step + 1 == total
            result = model.train_batch(inputs, labels, update=update)
        else:
            result = model.eval_batch(inputs, labels)
        losses = result[0] if model._metrics and model._loss is not None else result
        values: dict[str, Any] = {}
        if model._loss is not None:
            values["loss"] = [float(np.asarray(loss).reshape(-1)[0]) for loss in losses]
        for metric in model._metrics:
            names, measures = listed(metric.name()), listed(metric.accumulate())
            values |= dict(zip(names, measures, strict=False))
        return values


def _specs(specs: Any, network: Layer, is_input: bool) -> list[Any]:
    """Return the arguments of a network or a loss, by description, or by the names of its arguments."""
    if specs is None:
        if not is_input:
            return []
        if in_static_mode():
            raise ArgumentTypeError("'inputs' must be list or tuple or dict, and couldn't be None.")
        return [_Named(name) for name in _arguments(network.forward)]
    if isinstance(specs, dict):
        order = _arguments(network.forward)
        if {*specs} != {*order}:
            raise NotReadyError(f"'inputs' names {sorted(specs)}, and forward takes {order}")
        specs = [specs[name] for name in order]
    result = listed(specs)
    for spec in result:
        if not isinstance(spec, InputSpec):
            raise NotReadyError(
                f"'inputs' and 'labels' are paddle.static.InputSpec, but received {type(spec).__name__}"
            )
        if in_static_mode() and not spec.name:
            raise UsageError(f"Requires Input[{result.index(spec)}].name != None, but receive `None` with {spec}.")
    return result


class _Named:
    """An input of which only the name is known."""

    shape = None

    def __init__(self, name: str) -> None:
        self.name = name


def _arguments(function: Callable[..., Any]) -> list[str]:
    """The names of the arguments that may be given by place."""
    return [name for name in inspect.getfullargspec(function).args if name != "self"]


def _flat(data: Any) -> Iterator[Any]:
    """The fields of a batch, which may stand in lists of inputs and labels."""
    if isinstance(data, (list, tuple)):
        for part in data:
            yield from _flat(part)
    else:
        yield data


def _loader(data: Any, size: Any, shuffle: bool, drop_last: bool, workers: int) -> Any:
    """Return the loader that gives batches."""
    if not isinstance(data, Dataset):
        return data
    sampler = DistributedBatchSampler(data, batch_size=size, shuffle=shuffle, drop_last=drop_last)
    return DataLoader(data, batch_sampler=sampler, num_workers=workers)


def _steps(loader: Any, limit: int | None) -> int | None:
    """Return the number of batches; None where it is unknown."""
    try:
        steps = len(loader)
    except (TypeError, ValueError, RuntimeError, NotImplementedError):
        return None
    return steps if limit is None else min(steps, limit)


def _epochs(steps: int, each: int) -> int:
    return -(-steps // each)
