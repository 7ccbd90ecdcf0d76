"""Callbacks that run while a :class:`paddle.Model` trains, evaluates and predicts."""

from __future__ import annotations

import importlib
import numbers
import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradtool.engine.core.differences import meet
from gradtool.engine.core.errors import UnsupportedError, UsageError
from gradtool.paddle.optimizer.lr import LRScheduler as Schedule

from ._progress import ProgressBar

Logs = dict[str, Any]


class TrainingWarning(UserWarning):
    """A callback that cannot do what it is there for."""


class Callback:
    """Base of callbacks: a method that a subclass defines is called at its point, with numbers and values so far.

    Attributes:
        model: the :class:`paddle.Model`.
        params: ``batch_size``, ``epochs``, ``steps``, ``verbose`` and ``metrics`` of the call.
    """

    def __init__(self) -> None:
        self.model: Any = None
        self.params: Logs = {}

    def set_params(self, params: Logs) -> None:
        """Take the settings of the call."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Take the model."""
        self.model = model

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Before the first epoch."""

    def on_train_end(self, logs: Logs | None = None) -> None:
        """After the last epoch."""

    def on_eval_begin(self, logs: Logs | None = None) -> None:
        """Before an evaluation, with the numbers of its ``steps`` and the names of its ``metrics``."""

    def on_eval_end(self, logs: Logs | None = None) -> None:
        """After an evaluation, with loss and metrics."""

    def on_predict_begin(self, logs: Logs | None = None) -> None:
        """Before the first prediction."""

    def on_predict_end(self, logs: Logs | None = None) -> None:
        """After the last prediction."""

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Before an epoch, counted from 0."""

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """After an epoch, before the evaluation that follows it."""

    def on_train_batch_begin(self, step: int, logs: Logs | None = None) -> None:
        """Before a step, counted from 0 in each epoch."""

    def on_train_batch_end(self, step: int, logs: Logs | None = None) -> None:
        """After a step, with loss and metrics."""

    def on_eval_batch_begin(self, step: int, logs: Logs | None = None) -> None:
        """Before a batch of an evaluation."""

    def on_eval_batch_end(self, step: int, logs: Logs | None = None) -> None:
        """After a batch of an evaluation, with loss and metrics."""

    def on_predict_batch_begin(self, step: int, logs: Logs | None = None) -> None:
        """Before a batch of predictions."""

    def on_predict_batch_end(self, step: int, logs: Logs | None = None) -> None:
        """After a batch of predictions."""


class CallbackList:
    """Several callbacks as one: ``call("epoch_end", epoch, logs)`` calls ``on_epoch_end`` of each of them."""

    def __init__(self, callbacks: Sequence[Callback]) -> None:
        self.callbacks = list(callbacks)

    def append(self, callback: Callback) -> None:
        """One more."""
        self.callbacks.append(callback)

    def __iter__(self) -> Any:
        return iter(self.callbacks)

    def set_params(self, params: Logs) -> None:
        """Give all of them the settings."""
        for callback in self.callbacks:
            callback.set_params(params)

    def set_model(self, model: Any) -> None:
        """Give all of them the model."""
        for callback in self.callbacks:
            callback.set_model(model)

    def call(self, moment: str, *arguments: Any) -> None:
        """Call that method of each of them."""
        for callback in self.callbacks:
            getattr(callback, f"on_{moment}")(*arguments)


class ProgBarLogger(Callback):
    """Prints how far the training is, with loss and metrics.

    Args:
        log_freq: after how many steps each.
        verbose: 0: nothing; 1: a line that is written over; 2: lines.
    """

    def __init__(self, log_freq: int = 1, verbose: int = 2) -> None:
        super().__init__()
        self.epochs: int | None = None
        self.steps: int | None = None
        self.progbar: ProgressBar | None = None
        self.verbose = verbose
        self.log_freq = log_freq
        self._samples = 0
        self._step = 0
        self._steps: int | None = None
        self._bar: ProgressBar | None = None
        self._metrics: list[str] = []

    def on_train_begin(self, logs: Logs | None = None) -> None:
        self.epochs = self.params["epochs"]
        self._metrics = self.params["metrics"]
        if self.verbose:
            print(
                "The loss value printed in the log is the current step, and the metric is the average value of "
                "previous steps."
            )

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        self.steps = self.params["steps"]
        self._begin(self.steps)
        self.progbar = self._bar
        if self.epochs and self.verbose:
            print(f"Epoch {epoch + 1}/{self.epochs}")

    def on_train_batch_end(self, step: int, logs: Logs | None = None) -> None:
        self._batch(step, logs)

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        if self._steps is not None:
            self._say(logs)

    def on_eval_begin(self, logs: Logs | None = None) -> None:
        self._begin((logs or {}).get("steps"))
        self._metrics = (logs or {}).get("metrics", [])
        if self.verbose:
            print("Eval begin...")

    def on_eval_batch_end(self, step: int, logs: Logs | None = None) -> None:
        self._batch(step, logs)

    def on_eval_end(self, logs: Logs | None = None) -> None:
        if self._steps is not None:
            self._say(logs)
            self._total("Eval")

    def on_predict_begin(self, logs: Logs | None = None) -> None:
        self._begin((logs or {}).get("steps"))
        self._metrics = []
        if self.verbose:
            print("Predict begin...")

    def on_predict_batch_end(self, step: int, logs: Logs | None = None) -> None:
        self._batch(step, logs)

    def on_predict_end(self, logs: Logs | None = None) -> None:
        if self._step % self.log_freq or self.verbose == 1:
            self._say(logs)
        self._total("Predict")

    def _begin(self, steps: int | None) -> None:
        self._steps, self._step, self._samples = steps, 0, 0
        self._bar = ProgressBar(num=steps, verbose=self.verbose)

    def _batch(self, step: int, logs: Logs | None) -> None:
        self._step = step + 1
        self._samples += (logs or {}).get("batch_size") or 1
        if self._step % self.log_freq == 0 and (self._steps is None or self._step < self._steps):
            self._say(logs)

    def _say(self, logs: Logs | None) -> None:
        if self.verbose and self._bar is not None:
            values = [(name, (logs or {})[name]) for name in self._metrics if name in (logs or {})]
            self._bar.update(self._step, values)

    def _total(self, what: str) -> None:
        if self.verbose:
            print(f"{what} samples: {self._samples}")


class ModelCheckpoint(Callback):
    """Saves the model: ``<epoch>`` after each *save_freq* epochs, from the first one on, and ``final`` at the end.

    Args:
        save_dir: the folder; nothing is saved when None.
    """

    def __init__(self, save_freq: int = 1, save_dir: str | None = None) -> None:
        super().__init__()
        self.save_freq = save_freq
        self.save_dir = save_dir

    def on_epoch_begin(self, epoch: int | None = None, logs: Logs | None = None) -> None:
        self.epoch = epoch

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        if self.save_dir and epoch % self.save_freq == 0:
            self._save(str(epoch))

    def on_train_end(self, logs: Logs | None = None) -> None:
        if self.save_dir:
            self._save("final")

    def _save(self, name: str) -> None:
        path = os.path.join(os.path.abspath(str(self.save_dir)), name)
        print(f"save checkpoint at {path}")
        self.model.save(path)


class LRScheduler(Callback):
    """Steps the schedule of the optimizer's learning rate, where it has one.

    Args:
        by_step: after each step.
        by_epoch: after each epoch instead.

    Raises:
        UsageError: both (a ValueError).
    """

    def __init__(self, by_step: bool = True, by_epoch: bool = False) -> None:
        if by_step and by_epoch:
            raise UsageError("by_step option is mutually exclusive with by_epoch")
        super().__init__()
        self.by_step = by_step
        self.by_epoch = by_epoch

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        if self.by_epoch:
            self._step()

    def on_train_batch_end(self, step: int, logs: Logs | None = None) -> None:
        if self.by_step:
            self._step()

    def _step(self) -> None:
        rate = getattr(self.model._optimizer, "_learning_rate", None)
        if isinstance(rate, Schedule):
            rate.step()


class _Monitor(Callback):
    """A callback that looks at a value after each evaluation."""

    _title = ""
    _mode_of = "mode"

    def __init__(self, monitor: str, mode: str) -> None:
        super().__init__()
        self.monitor = monitor
        if mode not in ("auto", "min", "max"):
            self._warn(f"{self._mode_of} {mode} is unknown, fallback to auto mode.")
            mode = "auto"
        self._larger = mode == "max" or (mode == "auto" and "acc" in monitor)

    @staticmethod
    def _warn(text: str) -> None:
        warnings.warn(text, TrainingWarning, stacklevel=4)

    def _current(self, logs: Logs | None) -> Any:
        """The value, or None with a warning."""
        if not logs or self.monitor not in logs:
            self._warn(f"Monitor of {self._title} should be loss or metric name.")
            return None
        value = logs[self.monitor]
        return value[0] if isinstance(value, (list, tuple)) else value


class EarlyStopping(_Monitor):
    """Ends the training when a value has not become better for *patience* evaluations.

    Args:
        monitor: ``"loss"`` or the name of a metric.
        mode: whether larger or smaller is better: ``"max"``, ``"min"``, or ``"auto"`` (names with ``acc``: larger).
        min_delta: by how much it has to become better.
        baseline: what it has to be better than at first.
        save_best_model: saves ``best_model`` in the folder of :meth:`paddle.Model.fit`.
    """

    _title = "EarlyStopping"
    _mode_of = "EarlyStopping mode"

    def __init__(
        self,
        monitor: str = "loss",
        mode: str = "auto",
        patience: int = 0,
        verbose: int = 1,
        min_delta: float = 0,
        baseline: float | None = None,
        save_best_model: bool = True,
    ) -> None:
        super().__init__(monitor, mode)
        self.patience = patience
        self.verbose = verbose
        self.baseline = baseline
        self.min_delta = abs(min_delta)
        self.wait_epoch = 0
        self.best_weights = None
        self.stopped_epoch = 0
        self.save_best_model = save_best_model
        self.save_dir: str | None = None
        self.monitor_op: Callable[[Any, Any], Any] = np.greater if self._larger else np.less
        self.best_value: Any = -np.inf if self._larger else np.inf
        if not self._larger:
            self.min_delta *= -1

    def on_train_begin(self, logs: Logs | None = None) -> None:
        self.wait_epoch = 0
        start = -np.inf if self._larger else np.inf
        self.best_value = start if self.baseline is None else self.baseline

    def on_eval_end(self, logs: Logs | None = None) -> None:
        current = self._current(logs)
        if current is None:
            return
        if self.monitor_op(current - self.min_delta, self.best_value):
            self.best_value = current
            self.wait_epoch = 0
            if self.save_best_model and self.save_dir is not None:
                self.model.save(os.path.join(self.save_dir, "best_model"))
        else:
            self.wait_epoch += 1
        if self.wait_epoch >= self.patience:
            self.model.stop_training = True
            if self.verbose > 0:
                print(f"Epoch {self.stopped_epoch + 1}: Early stopping.")
                if self.save_best_model and self.save_dir is not None:
                    best = os.path.abspath(os.path.join(self.save_dir, "best_model"))
                    print(f"Best checkpoint has been saved at {best}")
        self.stopped_epoch += 1


class ReduceLROnPlateau(_Monitor):
    """Makes the learning rate smaller when a value has not become better for *patience* evaluations.

    Args:
        monitor, mode: as :class:`EarlyStopping` has them.
        factor: what the rate is multiplied by.
        min_delta: by how much the value has to become better.
        cooldown: how many evaluations to wait after the rate was changed.
        min_lr: the rate is not made smaller than that.

    Raises:
        UsageError: a *factor* of 1 or more (a ValueError).
    """

    _title = "ReduceLROnPlateau"
    _mode_of = "Learning rate reduction mode"

    def __init__(
        self,
        monitor: str = "loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 1,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
    ) -> None:
        if factor >= 1.0:
            raise UsageError("ReduceLROnPlateau does not support a factor >= 1.0.")
        super().__init__(monitor, mode)
        self.factor = factor
        self.min_lr = min_lr
        self.min_delta = min_delta
        self.patience = patience
        self.verbose = verbose
        self.cooldown = cooldown
        self.mode = mode if mode in ("auto", "min", "max") else "auto"
        self.epoch = 0
        self._reset()

    def _reset(self) -> None:
        self.cooldown_counter = 0
        self.wait = 0
        self.best: Any = -np.inf if self._larger else np.inf

    def on_train_begin(self, logs: Logs | None = None) -> None:
        self._reset()

    def in_cooldown(self) -> bool:
        """Return whether the rate was changed just now."""
        return self.cooldown_counter > 0

    def on_eval_end(self, logs: Logs | None = None) -> None:
        current = self._current(logs)
        if current is None:
            return
        rate = getattr(self.model._optimizer, "_learning_rate", None)
        if not isinstance(rate, numbers.Real):
            self._warn(f"Expected learning_rate be float, but got {type(rate).__name__}.")
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        better = current > self.best + self.min_delta if self._larger else current < self.best - self.min_delta
        if better:
            self.best = current
            self.wait = 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience:
                self._reduce()
        self.epoch += 1

    def _reduce(self) -> None:
        old = self.model._optimizer.get_lr()
        if not old > self.min_lr:
            return
        new = max(old * self.factor, self.min_lr)
        meet("plateaus")
        self.model._optimizer.set_lr(new)
        if self.verbose > 0:
            print(f"\nEpoch {self.epoch + 1}: ReduceLROnPlateau reducing learning rate to {new}.")
        self.cooldown_counter = self.cooldown
        self.wait = 0


class VisualDL(Callback):
    """Write loss and metrics with the package ``visualdl``. Where it is not installed, say so once and write nothing.

    Args:
        log_dir: the folder that it writes to.
    """

    def __init__(self, log_dir: str) -> None:
        super().__init__()
        self.log_dir = log_dir
        self.epoch = 0
        self.steps = {"train": 0, "eval": 0}
        self.writer: Any = None
        self.is_missing = False

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        self.epoch = epoch

    def on_train_batch_end(self, step: int, logs: Logs | None = None) -> None:
        self.steps["train"] += 1
        self._write("train", self.steps["train"], logs)

    def on_eval_end(self, logs: Logs | None = None) -> None:
        self._write("eval", self.epoch, logs)

    def on_train_end(self, logs: Logs | None = None) -> None:
        if self.writer is not None:
            self.writer.close()
            self.writer = None

    def _write(self, mode: str, step: int, logs: Logs | None) -> None:
        if self.writer is None and not self.is_missing:
            self._open()
        if self.writer is None:
            return
        for name in self.params.get("metrics") or ():
            value = (logs or {}).get(name)
            number = value[0] if isinstance(value, (list, tuple)) else value
            if isinstance(number, numbers.Number):
                self.writer.add_scalar(tag=f"{mode}/{name}", step=step, value=number)

    def _open(self) -> None:
        try:
            self.writer = importlib.import_module("visualdl").LogWriter(self.log_dir)
        except ImportError:
            self.is_missing = True
            warnings.warn(
                "paddle.callbacks.VisualDL writes nothing, as visualdl is not installed; gradtool stats MODEL shows "
                "the course of loss and gradients.",
                TrainingWarning,
                stacklevel=2,
            )


class WandbCallback(Callback):
    """Refused: nothing is sent from here.

    Raises:
        UnsupportedError: always (a NotImplementedError).
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise UnsupportedError(
            "paddle.callbacks.WandbCallback sends what it is given to a server, and gradtool sends nothing.",
            hint="leave it out; gradtool stats MODEL shows the course of loss and gradients, and writes it with -o",
        )


def config_callbacks(
    callbacks: Sequence[Callback] | Callback | None = None,
    model: Any = None,
    batch_size: int | None = None,
    epochs: int | None = None,
    steps: int | None = None,
    log_freq: int = 2,
    verbose: int = 2,
    save_freq: int = 1,
    save_dir: str | None = None,
    metrics: list[str] | None = None,
    mode: str = "train",
) -> CallbackList:
    """Return *callbacks*, with those that every training has where none of its kind is among them, for *model*."""
    own: list[Any] = list(callbacks) if isinstance(callbacks, (list, tuple)) else [callbacks] if callbacks else []
    if verbose and not any(isinstance(c, ProgBarLogger) for c in own):
        own.insert(0, ProgBarLogger(log_freq, verbose=verbose))
    if not any(isinstance(c, ModelCheckpoint) for c in own):
        own.append(ModelCheckpoint(save_freq, save_dir))
    for callback in own:
        if isinstance(callback, EarlyStopping):
            callback.save_dir = save_dir
    if not any(isinstance(c, LRScheduler) for c in own):
        own.append(LRScheduler())
    every = CallbackList(own)
    every.set_model(model)
    named = (metrics or []) if mode != "test" else []
    params = {"batch_size": batch_size, "epochs": epochs, "steps": steps, "verbose": verbose, "metrics": named}
    every.set_params(params)
    return every
