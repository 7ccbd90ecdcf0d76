"""A script of PyTorch among model files: which files are some."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...core.command_errors import PackageNeeded
from ...request.request import Request
from ...script.script_state import Loaded
from ...script.target import Target

if TYPE_CHECKING:
    from ..recorded.running import Watched

INSTALL = "pip install torch"


def is_torchs(text: bytes) -> bool:
    """Return whether a file imports torch, and not paddle: seen from its import statements alone.

    >>> is_torchs(b"import torch.nn as nn")
    True
    >>> is_torchs(b"import paddle, torch")
    False
    """
    if b"torch" not in text:
        return False
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    packages: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            packages.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            packages.add(node.module.partition(".")[0])
    return "torch" in packages and not packages & {"paddle", "gradtool"}


@contextlib.contextmanager
def watch_file(target: Target, data: bytes, loaded: Loaded, request: Request) -> Iterator[Watched | None]:
    """Watch a file that is torch's while it runs inside; None for any other.

    Raises:
        CommandError: it is torch's, and torch is not installed.
    """
    texts = [cell.text for cell in target.cells] or [data]
    if not any(map(is_torchs, texts)):
        yield None
        return
    if importlib.util.find_spec("torch") is None:
        raise PackageNeeded(
            f"{target.name} is a program of PyTorch, and torch is not installed where gradtool is",
            f"{INSTALL}  (gradtool records the run inside torch, and everything else works without it)",
        )
    import torch

    from .script_run import WatchedTorch

    torch.manual_seed(request.run.seed)
    run = WatchedTorch(loaded, request)
    with run.recorder.record():
        yield run
