"""Record what Paddle computes of the usages: ``PYTHON tests/paddle/jit/record.py``, with an installed Paddle's Python.

Each usage is called as it is, and decorated with ``to_static(full_graph=True)``, for which Paddle makes a program of
its branches and loops; of the program is noted whether it computes the same.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RECORD = HERE / "paddle.json"


def main() -> None:
    """Run all usages on Paddle, and write what came."""
    import paddle

    for name in ("", ".nn", ".nn.functional", ".static"):
        sys.modules["gradtool.paddle" + name] = _part(paddle, name)
    sys.path.insert(0, str(HERE))
    from usages import USAGES, seeded

    record = {name: [] for name in USAGES}
    for name, make in USAGES.items():
        subject, _, calls = make()
        seeded(subject)
        for arguments in calls:
            record[name].append(_called(paddle, subject, arguments))
        subject, _, calls = make()
        marked = paddle.jit.to_static(seeded(subject), full_graph=True)
        for arguments, entry in zip(calls, record[name], strict=True):
            try:
                entry["program"] = _compared(_called(paddle, marked, arguments), entry)
            except Exception as error:  # what Paddle cannot turn into a program is a result, too
                entry["program"] = f"{type(error).__name__}: {_last_line(error)}"
    text = json.dumps({"version": paddle.__version__, "usages": record}, indent=None, separators=(",", ":"))
    RECORD.write_text(text.replace("],[{", "],\n[{") + "\n")


def _part(paddle: Any, name: str) -> Any:
    for part in name.split(".")[1:]:
        paddle = getattr(paddle, part)
    return paddle


def _compared(now: dict[str, Any], before: dict[str, Any]) -> str:
    """How what a program computes differs from what the function computes."""
    for what in ("results", "gradients"):
        for a, b in zip(now[what], before[what], strict=True):
            if (a is None) != (b is None):
                return f"other {what}: none"
            if a is not None and (a[0] != b[0] or any(abs(x - y) > 1e-4 for x, y in zip(a[1], b[1], strict=True))):
                return f"other {what}"
    return "the same"


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1][:160] if lines else ""


def _called(paddle: Any, subject: Any, arguments: Any) -> dict[str, Any]:
    inputs: list[Any] = []

    def tensor(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: tensor(v) for k, v in value.items()}
        if isinstance(value, list):
            return [tensor(v) for v in value]
        made = paddle.to_tensor(value, stop_gradient=value.dtype.kind != "f")
        inputs.append(made)
        return made

    results = _listed(paddle, subject(*[tensor(a) for a in arguments]))
    loss = sum(r.sum() for r in results if r.dtype == paddle.float32 and not r.stop_gradient)
    if isinstance(loss, paddle.Tensor):
        loss.backward()
    grads = [None if t.grad is None else _numbers(t.grad) for t in inputs if not t.stop_gradient]
    return {"results": [_numbers(r) for r in results], "gradients": grads}


def _listed(paddle: Any, result: Any) -> list[Any]:
    if isinstance(result, dict):
        return [t for v in result.values() for t in _listed(paddle, v)]
    if isinstance(result, (list, tuple)):
        return [t for v in result for t in _listed(paddle, v)]
    return [result] if isinstance(result, paddle.Tensor) else []


def _numbers(tensor: Any) -> Any:
    array = tensor.numpy()
    return [list(array.shape), [float(f"{v:.7g}") for v in array.reshape(-1).tolist()]]


if __name__ == "__main__":
    main()
