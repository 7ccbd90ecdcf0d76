"""Parameters and gradients at the end of a run, by public names alone: real Paddle runs this as well."""

from __future__ import annotations

import contextlib
import io
import json
import runpy
import sys
import warnings
from typing import Any

import numpy as np


def fingerprint(path: str) -> dict[str, Any]:
    """Run a program as ``__main__`` and return what it trained.

    Returns:
        ``raised``, the type of an exception or None; ``values``: by parameter, in the order of creation, the norm of
        what it holds and of its gradient (None where it has none); ``moved``: by parameter, whether it holds something
        else than at its creation.
    """
    import paddle

    paddle.disable_static()
    made: list[Any] = []
    begun: list[float | None] = []
    create = paddle.nn.Layer.create_parameter

    def kept(self: Any, *args: Any, **kwargs: Any) -> Any:
        made.append(create(self, *args, **kwargs))
        begun.append(_values(made[-1])[0])
        return made[-1]

    paddle.nn.Layer.create_parameter = kept
    raised = None
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            runpy.run_path(path, run_name="__main__")
    except SystemExit:
        pass
    except BaseException as error:  # what it is counts, whoever raised it
        raised = type(error).__name__
    finally:
        paddle.nn.Layer.create_parameter = create
    values = [_values(p) for p in made]
    moved = [before != after for before, (after, _) in zip(begun, values, strict=True)]
    if not paddle.in_dynamic_mode():
        scope = paddle.static.global_scope()
        named = [v.name for v in paddle.static.default_main_program().all_parameters()]
        values += [[_norm(scope.find_var(name).get_tensor()), None] for name in named if scope.find_var(name)]
    return {"raised": raised, "values": values, "moved": moved}


def _values(parameter: Any) -> list[float | None]:
    try:
        gradient = parameter.grad
        return [_norm(parameter), None if gradient is None else _norm(gradient)]
    except Exception:  # a variable of a program holds no values
        return [None, None]


def _norm(tensor: Any) -> float | None:
    array = np.asarray(tensor.numpy() if hasattr(tensor, "numpy") else tensor)
    return float(np.linalg.norm(array.astype(np.float64))) if array.size else 0.0


def differ(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Return whether two runs trained otherwise, by more than rounding."""
    if len(one["values"]) != len(other["values"]):
        return True
    pairs = zip(one["values"], other["values"], strict=True)
    return any(not _close(a, b) for x, y in pairs for a, b in zip(x, y, strict=True))


def starved(right: dict[str, Any], changed: dict[str, Any]) -> bool:
    """Return whether a parameter that the right program trains holds in the changed one what it began with."""
    return any(a and not b for a, b in zip(right["moved"], changed["moved"], strict=False))


def _close(a: float | None, b: float | None) -> bool:
    if a is None or b is None:
        return a is b
    return bool(np.isclose(a, b, rtol=1e-5, atol=1e-9, equal_nan=True))


if __name__ == "__main__":
    json.dump(fingerprint(sys.argv[1]), sys.stdout)
