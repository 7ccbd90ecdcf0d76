"""Record the public names of Paddle, namespace by namespace; ``python -m tests.coverage --record PYTHON`` runs it.

It needs Paddle 3.3.1 and nothing of gradtool, and writes names.txt: a line for a namespace, ended by a colon, then its
names. Of a package these are the names that it lists and what else can be reached in it, of a module only the former.
"""

from __future__ import annotations

import importlib
import inspect
import types
import typing
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("names.txt")

MODULES = (
    "paddle nn nn.functional nn.initializer nn.utils linalg fft signal static static.nn optimizer optimizer.lr "
    "incubate.autograd autograd regularizer io metric amp amp.debugging jit callbacks distributed "
    "distributed.fleet distributed.fleet.utils vision vision.transforms vision.datasets "
    "vision.models vision.ops distribution distribution.transform sparse sparse.nn sparse.nn.functional geometric text "
    "text.datasets audio audio.functional audio.features audio.datasets audio.backends incubate incubate.nn "
    "incubate.nn.functional incubate.optimizer incubate.optimizer.functional static.amp device onnx hub"
)
CLASSES = "Tensor nn.Layer optimizer.Optimizer optimizer.lr.LRScheduler Model amp.GradScaler"


def listed(module: types.ModuleType) -> set[str]:
    """The public names of a module."""
    names = {*getattr(module, "__all__", [])}
    if hasattr(module, "__path__"):
        names |= {n for n in dir(module) if not n.startswith("_") and is_public(getattr(module, n))}
    return names


def is_public(value: Any) -> bool:
    """Whether it is something of Paddle: no module, and nothing that a package imports for its own use."""
    home = getattr(value, "__module__", None) or ""
    return not inspect.ismodule(value) and home not in (typing.__name__, "__future__")


def main() -> None:
    import paddle

    spaces = {}
    for path in MODULES.split():
        full = path if path == "paddle" else f"paddle.{path}"
        spaces[full] = listed(importlib.import_module(full))
    for path in CLASSES.split():
        owner = paddle
        for part in path.split("."):
            owner = getattr(owner, part)
        spaces[f"paddle.{path}"] = {n for n in dir(owner) if not n.startswith("_")}
    lines = []
    for full, names in spaces.items():
        lines += [f"{full}:", *(f"    {n}" for n in sorted(names))]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{sum(map(len, spaces.values()))} names of Paddle {paddle.__version__} in {len(spaces)} namespaces")


if __name__ == "__main__":
    main()
