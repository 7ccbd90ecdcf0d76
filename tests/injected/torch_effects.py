"""Parameters and gradients at the end of a run of a PyTorch program; see :mod:`.effects`, of which it has the form."""

from __future__ import annotations

import contextlib
import io
import runpy
import warnings
from typing import Any


def fingerprint(path: str) -> dict[str, Any]:
    """Run a program as ``__main__`` and return what it trained, as :func:`.effects.fingerprint` does.

    A parameter began with what it held at the first backward call after it was made: initialisers write in place.
    """
    import torch

    made: list[Any] = []
    begun: list[float | None] = []
    create, backward = torch.nn.Parameter.__new__, torch.autograd.backward

    def kept(cls: Any, *args: Any, **kwargs: Any) -> Any:
        made.append(create(cls, *args, **kwargs))
        return made[-1]

    def begins(*args: Any, **kwargs: Any) -> Any:
        begun.extend(_values(p)[0] for p in made[len(begun) :])
        return backward(*args, **kwargs)

    torch.nn.Parameter.__new__ = kept  # type: ignore[assignment]
    torch.autograd.backward = begins
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
        torch.nn.Parameter.__new__ = create  # type: ignore[method-assign]
        torch.autograd.backward = backward
    values = [_values(p) for p in made]
    begun.extend(after for after, _ in values[len(begun) :])
    moved = [before != after for before, (after, _) in zip(begun, values, strict=True)]
    return {"raised": raised, "values": values, "moved": moved}


def _values(parameter: Any) -> list[float | None]:
    return [_norm(parameter), None if parameter.grad is None else _norm(parameter.grad)]


def _norm(tensor: Any) -> float:
    held = tensor.detach()
    dense = held.to_dense() if held.is_sparse else held
    return float(dense.abs().double().norm())
