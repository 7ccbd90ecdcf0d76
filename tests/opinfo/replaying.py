"""A sample in Paddle's names: results and gradients, with gradtool or with Paddle."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tests.opinfo.adapters import ADAPTERS
from tests.opinfo.measures import MEASURES, PREPARED, as_they_are
from tests.opinfo.table import Differs, Lacks
from tests.opinfo.wire import Array, Dtype, Foreign


class Replay:
    """One call; its answer has the parts of PyTorch's, or a word why there is none."""

    def __init__(self, paddle: Any, message: dict[str, Any]) -> None:
        self.paddle = paddle
        self.message = message
        self.leaves: list[Any] = []

    def given(self, value: Any) -> Any:
        """An argument as this library takes it."""
        if isinstance(value, Array):
            tensor = self.paddle.to_tensor(value.value)
            tensor.stop_gradient = not value.grad
            if value.grad:
                self.leaves.append(tensor)
            return tensor
        if isinstance(value, Dtype):
            return value.name
        if isinstance(value, Foreign):
            raise Lacks(f"argument {value.text}")
        if isinstance(value, (list, tuple)):
            return type(value)([self.given(v) for v in value])
        if isinstance(value, dict):
            return {k: self.given(v) for k, v in value.items()}
        if isinstance(value, slice):
            return slice(*(self.given(v) for v in (value.start, value.stop, value.step)))
        return value

    def answer(self) -> dict[str, Any]:
        """What came."""
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                return self.computed()
        except Lacks as lack:
            return {"lacks": str(lack)}
        except Differs as other:
            return {"differs": str(other)}
        except Exception as error:
            return {"refused": f"{type(error).__name__}: {str(error).strip()[:600]}"}

    def computed(self) -> dict[str, Any]:
        name = self.message["op"]
        args = self.given(self.message["args"])
        kwargs = {k: self.given(v) for k, v in self.message["kwargs"].items() if not ignored(k, v)}
        if self.message["type"] != "error":
            args = PREPARED.get(name, as_they_are)(*args)
        value = ADAPTERS[name](self.paddle, *args, **kwargs)
        if name in MEASURES:
            value = MEASURES[name](value)
        results = flat(value)
        answer: dict[str, Any] = {"results": [array(r) for r in results]}
        wanted = self.message.get("answer") or {}
        if "first" not in wanted:
            return answer
        # Places and orders that an operator gives beside its values say so, too, though nothing can arrive there.
        roots = [r for r in results if getattr(r, "_stop", getattr(r, "stop_gradient", True)) is False and carries(r)]
        if not roots and all(g is None or not np.any(g) for g in wanted["first"]):
            return answer | {part: [None] * len(wanted[part]) for part in ("first", "second") if part in wanted}
        if len(roots) != len(wanted["starts"]):
            return answer | {"first": f"{len(roots)} results have a gradient"}
        try:
            self.gradients(answer, roots, wanted)
        except Exception as error:
            if "create_graph" in str(error) or self.paddle.__name__ == "paddle":  # Paddle has no second order
                return self.once(answer, roots, wanted)
            part = "second" if isinstance(answer.get("first"), list) else "first"
            answer[part] = f"{type(error).__name__}: {str(error).strip()[:600]}"
        return answer

    def once(self, answer: dict[str, Any], roots: list[Any], wanted: dict[str, Any]) -> dict[str, Any]:
        """The same without gradients of second order."""
        try:
            self.gradients(answer, roots, {k: v for k, v in wanted.items() if k != "second"})
        except Exception as error:
            answer["first"] = f"{type(error).__name__}: {str(error).strip()[:600]}"
        return answer

    def gradients(self, answer: dict[str, Any], roots: list[Any], wanted: dict[str, Any]) -> None:
        paddle = self.paddle
        starts = [paddle.to_tensor(s.astype(array(r).dtype)) for s, r in zip(wanted["starts"], roots, strict=True)]
        twice = "second" in wanted
        first = paddle.grad(roots, self.leaves, starts, create_graph=twice, retain_graph=True, allow_unused=True)
        answer["first"] = [None if g is None else array(g) for g in first]
        if not twice:
            return
        pairs = [
            (first[i], paddle.to_tensor(a))
            for i, a in zip(wanted["again"], wanted["along"], strict=True)
            if first[i] is not None and not first[i].stop_gradient
        ]
        answer["second"] = [None] * len(self.leaves)
        if pairs:
            second = paddle.grad([g for g, _ in pairs], self.leaves, [a for _, a in pairs], allow_unused=True)
            answer["second"] = [None if g is None else array(g) for g in second]


def ignored(name: str, value: Any) -> bool:
    """Arguments that change no value."""
    return name in ("device", "memory_format", "layout", "pin_memory") or (name == "requires_grad")


def flat(value: Any) -> list[Any]:
    return [e for v in value for e in flat(v)] if isinstance(value, (list, tuple)) else [value]


def carries(tensor: Any) -> bool:
    return str(tensor.dtype).rpartition(".")[2].lower().startswith(("float", "complex"))


def array(value: Any) -> Any:
    if value is None:
        return None
    made = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    if made.dtype.kind not in "biufc":
        raise TypeError(f"the result is {value!r}"[:200])
    return made


def main() -> None:
    """Answer messages, with the package that is named."""
    import importlib
    import os
    import sys

    from tests.opinfo import wire

    inward, out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    paddle = importlib.import_module(sys.argv[1])
    paddle.disable_static()
    while (message := wire.receive(inward)) is not None:
        wire.send(out, Replay(paddle, message).answer())


if __name__ == "__main__":
    main()
