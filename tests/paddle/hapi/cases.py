"""Trainings by ``paddle.Model``, what they print, call and give: recorded by Paddle, compared by gradtool.

``PYTHON -m tests.paddle.hapi.cases`` with a Python that has paddlepaddle 3.3.1 writes ``recorded.json`` anew.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

FILE = Path(__file__).with_name("recorded.json")

CASES: dict[str, Callable[[Any], Any]] = {}


def case(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    CASES[function.__name__] = function
    return function


def masked(text: str, folder: str = "\0") -> str:
    """What is printed, without times and without what depends on their width."""
    text = re.sub(r"\d+(s|ms|us)/step", "T/step", text)
    text = re.sub(r"ETA: [\d:]+s?", "ETA: T", text)
    return re.sub(" +(?=\n|\b|$)", "", re.sub("\b+", "\b", text)).replace(folder, "DIR")


def rows(paddle: Any, count: int, labels: str = "int64") -> Any:
    """A data set of *count* samples."""

    class Rows(paddle.io.Dataset):  # type: ignore[misc,name-defined]
        def __len__(self) -> int:
            return count

        def __getitem__(self, i: int) -> Any:
            x = np.cos(np.arange(4) * (i + 1) + i).astype("float32")
            return x, np.array([int(x.sum() > 0)], labels)

    return Rows()


def stream(paddle: Any, count: int) -> Any:
    """The same, one after the other."""

    class Stream(paddle.io.IterableDataset):  # type: ignore[misc,name-defined]
        def __iter__(self) -> Any:
            return (rows(paddle, count)[i] for i in range(count))

    return paddle.io.DataLoader(Stream(), batch_size=2)


def network(paddle: Any) -> Any:
    nn = paddle.nn
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    for number, layer in enumerate((net[0], net[2])):
        shape = layer.weight.shape
        values = np.sin(np.arange(shape[0] * shape[1]) * 1.7 + number).reshape(shape).astype("float32") / 2
        layer.weight.set_value(values)
        layer.bias.set_value(np.zeros(shape[1], "float32"))
    return net


def model(paddle: Any, rate: Any = 0.1, kind: str = "SGD", metrics: Any = "acc") -> Any:
    result = paddle.Model(network(paddle))
    measures = paddle.metric.Accuracy() if metrics == "acc" else metrics
    optimizer = getattr(paddle.optimizer, kind)(rate, parameters=result.parameters())
    result.prepare(optimizer, paddle.nn.CrossEntropyLoss(), measures)
    return result


def weights(trained: Any) -> Any:
    return [round(float(v), 4) for v in trained.network[2].bias.numpy()]


@contextlib.contextmanager
def printed() -> Any:
    lines = io.StringIO()
    with contextlib.redirect_stdout(lines):
        yield lines


def said(function: Callable[[], Any], folder: str = "\0") -> str:
    with printed() as lines:
        function()
    return masked(lines.getvalue(), folder)


def plain(value: Any) -> Any:
    """Values as JSON has them, rounded to what two float32 computations share."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, (bool, str, int)) or value is None:
        return value
    array = np.asarray(value)
    return np.round(array.astype("float64"), 4).tolist() if array.dtype.kind in "fc" else array.tolist()


@case
def what_is_printed(paddle: Any) -> Any:
    texts = {}
    for verbose in (0, 1, 2):
        for log_freq in (1, 2):
            m = model(paddle)
            texts[f"fit {verbose} {log_freq}"] = said(
                lambda m=m, v=verbose, f=log_freq: m.fit(
                    rows(paddle, 10), rows(paddle, 6), 4, 2, shuffle=False, verbose=v, log_freq=f
                )
            )
        m = model(paddle)
        texts[f"stream {verbose}"] = said(
            lambda m=m, v=verbose: m.fit(stream(paddle, 10), stream(paddle, 6), verbose=v, log_freq=2)
        )
        for count in (8, 10):
            texts[f"predict {verbose} {count}"] = said(
                lambda m=m, v=verbose, n=count: m.predict(rows(paddle, n), 2, verbose=v)
            )
        texts[f"predict stream {verbose}"] = said(lambda m=m, v=verbose: m.predict(stream(paddle, 10), verbose=v))
        texts[f"evaluate {verbose}"] = said(lambda m=m, v=verbose: m.evaluate(rows(paddle, 10), 4, 2, v))
    return texts


@case
def what_comes_of_training(paddle: Any) -> Any:
    results = {}
    for name, settings in {
        "plain": {},
        "several batches": {"accumulate_grad_batches": 2},
        "shuffled": {"shuffle": True},
        "two steps": {"num_iters": 2},
        "five steps": {"num_iters": 5, "epochs": 1},
        "drop": {"drop_last": True},
    }.items():
        m = model(paddle)
        m.fit(rows(paddle, 10), **{"batch_size": 4, "epochs": 2, "verbose": 0, "shuffle": False, **settings})
        results[name] = [weights(m), m.stop_training]
        results[f"{name}: evaluated"] = plain(m.evaluate(rows(paddle, 6), 4, verbose=0))
    m = model(paddle, kind="Adam", rate=0.01)
    m.fit(rows(paddle, 8), batch_size=[4, 2], eval_data=rows(paddle, 4), verbose=0, shuffle=False)
    results["adam"] = weights(m)
    results["outputs"] = plain(m.predict(rows(paddle, 4), 2, verbose=0))
    results["stacked"] = plain(m.predict(rows(paddle, 4), 2, stack_outputs=True, verbose=0))
    return results


@case
def what_batches_give(paddle: Any) -> Any:
    x, y = np.ones([2, 4], "float32"), np.array([[1], [0]])
    m = model(paddle, metrics=paddle.metric.Accuracy(topk=(1, 2)))
    results = [plain(m.train_batch([x], [y])), plain(m.eval_batch([x], [y])), plain(m.predict_batch([x]))]
    results += [plain(m.train_batch([x], [y], update=False)), weights(m), m.mode]
    m.prepare(m._optimizer, paddle.nn.CrossEntropyLoss())
    results += [plain(m.train_batch([x], [y])), weights(m), plain(m.eval_batch([x], [y]))]
    m.prepare(m._optimizer, lambda out, label: [out.mean(), paddle.nn.functional.cross_entropy(out, label)])
    results += [plain(m.train_batch([x], [y])), weights(m)]
    m.prepare()
    results += [plain(m.evaluate(rows(paddle, 4), verbose=0))]
    return results


@case
def what_callbacks_see(paddle: Any) -> Any:
    seen: list[Any] = []

    class Log(paddle.callbacks.Callback):  # type: ignore[misc,name-defined]
        def __getattribute__(self, name: str) -> Any:
            method = object.__getattribute__(self, name)
            if not name.startswith("on_"):
                return method

            def noted(*arguments: Any) -> Any:
                values = arguments[:-1] if name.endswith("batch_begin") else arguments  # Paddle's are of another call
                seen.append([name, *plain(values)])
                return method(*arguments)

            return noted

    m, log = model(paddle), Log()
    m.fit(rows(paddle, 10), rows(paddle, 6), 4, 1, verbose=0, shuffle=False, callbacks=log)
    seen.append(plain(log.params))
    m.fit(rows(paddle, 10), batch_size=4, epochs=3, verbose=0, shuffle=False, callbacks=[log], num_iters=4)
    seen.append(plain(log.params))
    m.evaluate(rows(paddle, 6), 4, verbose=0, callbacks=[log])
    m.predict(rows(paddle, 6), 4, verbose=0, callbacks=[log])
    return seen


@case
def what_callbacks_do(paddle: Any) -> Any:
    calls, results = paddle.callbacks, []

    def trained(callback: Any, folder: str | None = None, **settings: Any) -> Any:
        m = model(paddle, **settings)
        with printed() as lines:
            m.fit(
                rows(paddle, 10), rows(paddle, 6), 4, 6, shuffle=False, verbose=0, callbacks=callback, save_dir=folder
            )
        return [masked(lines.getvalue(), folder or "\0"), weights(m), m.stop_training, plain(m._optimizer.get_lr())]

    for settings in (
        {"monitor": "acc", "mode": "max", "patience": 1},
        {"monitor": "loss", "patience": 0, "verbose": 0},
        {"monitor": "acc", "patience": 1, "save_best_model": False},
        {"monitor": "acc", "baseline": 0.999, "patience": 2},
        {"monitor": "acc", "min_delta": 0.5, "patience": 1},
    ):
        with tempfile.TemporaryDirectory() as folder:
            results.append([trained([calls.EarlyStopping(**settings)], folder), sorted(os.listdir(folder))])
    for settings in (
        {"monitor": "loss", "patience": 0, "min_delta": 1, "cooldown": 1},
        {"monitor": "acc", "patience": 1, "min_lr": 0.05},
        {"monitor": "acc", "patience": 2, "factor": 0.5, "cooldown": 2, "verbose": 0},
    ):
        text, _, *rest = trained([calls.ReduceLROnPlateau(**settings)])  # Paddle goes on with the old rate
        results.append([text, *rest])
    for callback in ([], [calls.LRScheduler(by_step=False, by_epoch=True)]):
        results.append(trained(callback, rate=paddle.optimizer.lr.StepDecay(0.1, 2)))
    for kind in ("SGD", "Adam"):
        with tempfile.TemporaryDirectory() as folder:
            m = model(paddle, kind=kind)
            text = said(
                lambda m=m, d=folder: m.fit(rows(paddle, 4), epochs=5, save_dir=d, save_freq=2, verbose=0), folder
            )
            results.append([text, sorted(os.listdir(folder))])
    return results


@case
def what_is_refused(paddle: Any) -> Any:
    calls, m = paddle.callbacks, model(paddle)
    x = np.ones([2, 4], "float32")
    errors = []
    for function in (
        lambda: calls.ReduceLROnPlateau(factor=1.5),
        lambda: calls.LRScheduler(True, True),
        lambda: m.prepare(loss=3),
        lambda: m.prepare(metrics=3),
        lambda: m.prepare(amp_configs="O7"),
        lambda: m.prepare(amp_configs={"level": "O1", "foo": 1}),
        lambda: m.fit(None),
        lambda: paddle.Model(m.network).train_batch([x]),
        lambda: m.load("no/such/file"),
    ):
        try:
            function()
        except Exception as error:
            errors.append([next(k for k in (AssertionError, TypeError, ValueError) if isinstance(error, k)).__name__])
            errors[-1].append(str(error).splitlines()[0] if str(error) else "")
        else:
            errors.append(["nothing"])
    return errors


@case
def what_is_saved(paddle: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        m = model(paddle, kind="Adam")
        m.fit(rows(paddle, 8), batch_size=4, verbose=0, shuffle=False)
        m.save(f"{folder}/deep/one")
        results = [sorted(os.listdir(f"{folder}/deep")), len(m.parameters()), weights(m)]
        for ending in ("", "", ".pdparams"):
            m.fit(rows(paddle, 8), batch_size=4, verbose=0, shuffle=False)
            results.append(weights(m))
            m.load(f"{folder}/deep/one{ending}")
            results.append(weights(m))
        return results


@case
def static_mode(paddle: Any) -> Any:
    paddle.enable_static()
    try:
        spec = paddle.static.InputSpec
        net = paddle.nn.Sequential(
            paddle.nn.Linear(4, 2, paddle.nn.initializer.Constant(0.1), paddle.nn.initializer.Constant(0.0))
        )
        m = paddle.Model(net, spec([None, 4], "float32", "x"), spec([None, 1], "int64", "y"))
        optimizer = paddle.optimizer.SGD(0.5, parameters=net.parameters())
        m.prepare(optimizer, paddle.nn.CrossEntropyLoss(), paddle.metric.Accuracy())
        text = said(lambda: m.fit(rows(paddle, 8), rows(paddle, 4), 4, 2, shuffle=False, verbose=2))
        return [text, plain(m.evaluate(rows(paddle, 6), 4, verbose=0))]
    finally:
        paddle.disable_static()


@case
def operations(paddle: Any) -> Any:
    nn, results = paddle.nn, {}
    for text, size in FLOPS:
        net = nn.Sequential(eval(text, {"nn": nn}))
        with printed():
            results[f"{text} {size}"] = int(paddle.flops(net, size))
    net = nn.Sequential(
        nn.Conv2D(3, 8, 3, padding=1), nn.BatchNorm2D(8), nn.ReLU(), nn.AdaptiveAvgPool2D(1), nn.Flatten()
    )
    text = said(lambda: paddle.flops(net, [1, 3, 16, 16], print_detail=True))
    results["table"] = re.sub(r" +(\w+)_\d+ +", r" \1_N ", text[text.index("+--") :])

    def count(layer: Any, x: Any, y: Any) -> None:
        layer.total_ops += 77

    inner = nn.Linear(4, 4)
    results["custom"] = said(lambda: paddle.flops(nn.Sequential(inner), [2, 4], {nn.Linear: count})).splitlines()[-1]
    results["twice"] = said(lambda: paddle.flops(nn.Sequential(inner, inner), [2, 4])).splitlines()[-1]
    results["alone"] = said(lambda: paddle.flops(inner, [2, 4])).splitlines()[-1]
    return results


FLOPS = [
    ("nn.Conv1D(3,4,3)", [2, 3, 8]),
    ("nn.Conv2D(4,8,3,groups=2,bias_attr=False)", [2, 4, 8, 8]),
    ("nn.Conv2D(4,8,(3,5),stride=2)", [2, 4, 8, 8]),
    ("nn.Conv3D(2,3,3)", [1, 2, 5, 5, 5]),
    ("nn.Conv1DTranspose(3,4,3)", [2, 3, 8]),
    ("nn.Conv2DTranspose(4,4,3,groups=2)", [2, 4, 8, 8]),
    ("nn.BatchNorm1D(4)", [2, 4, 8]),
    ("nn.BatchNorm2D(4)", [2, 4, 8, 8]),
    ("nn.BatchNorm(4)", [2, 4, 8, 8]),
    ("nn.LayerNorm(8)", [2, 4, 8]),
    ("nn.Linear(5,7)", [2, 3, 5]),
    ("nn.Linear(5,7,bias_attr=False)", [2, 5]),
    ("nn.LeakyReLU()", [2, 5]),
    ("nn.GELU()", [2, 5]),
    ("nn.MaxPool2D(2)", [2, 4, 8, 8]),
    ("nn.AvgPool1D(2)", [2, 4, 8]),
    ("nn.AvgPool2D(2)", [2, 4, 8, 8]),
    ("nn.AdaptiveAvgPool1D(2)", [2, 4, 8]),
    ("nn.AdaptiveAvgPool2D(3)", [2, 4, 8, 8]),
    ("nn.AdaptiveAvgPool3D(2)", [2, 4, 8, 8, 8]),
]


def record() -> None:
    """Write what an installed Paddle gives."""
    warnings.simplefilter("ignore")
    paddle = importlib.import_module("paddle")
    counting = importlib.import_module("paddle.hapi.dynamic_flops")
    vars(counting)["int"] = lambda value: int(np.asarray(value).reshape(-1)[0])  # it fails with NumPy 2 otherwise
    recorded = {name: function(paddle) for name, function in CASES.items()}
    FILE.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record()
    sys.exit()
