"""Record which names each module of an installed Paddle has; ``python -m tests.coverage --record-modules`` runs it.

It needs Paddle and nothing of gradtool, and prints JSON: module -> name -> kind, origin. Origins are modules with a
name in them, so that a name which many modules offer is known to be one thing.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import re
import sys
import types
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

APART = re.compile(
    r"paddle\.("
    # Compilers, generators and what is built into the C++ part: no names that programs of users write.
    r"apy|api_tracer|cinn|decomposition|pir|pir_utils|jit\.sot|jit\.pir_dy2static|jit\.dy2static\.transformers|base\.proto"
    r"|base\.libpaddle|base\.core|incubate\.cc|incubate\.autograd\.(prim(itives|reg|rules|x)|composite_rules"
    r"|phi_ops_map|generate_op_map)|utils\.gast|tensorrt|cost_model"
    # Engines of trainings on several machines, which programs do not import but are started by.
    r"|distributed\.(auto_parallel\.static|auto_parallel\.intermediate|auto_parallel\.pipelining|passes|launch|ps"
    r"|auto_tuner|transpiler|flex_checkpoint|checkpoint|rpc|metric|models|fsdp|communicator|distribute_lookup_table)"
    r"|distributed\.fleet\.(runtime|elastic|proto|data_generator|dataset|meta_optimizers\.(?!common|dygraph_optimizer))"
    r"|distributed\.fleet\.(launch|cloud_utils|base\.(graphviz|meta_optimizer_factory|private_helper_function"
    r"|runtime_factory|strategy_compiler))|base\.incubate|base\.(trainer_factory|trainer_desc|device_worker)"
    r"|incubate\.distributed\.fleet|static\.quantization\.|incubate\.asp\.|incubate\.passes\.|incubate\.multiprocessing"
    r"|quantization\.imperative\."
    r")|.*\._"
)
"""Modules that do not count: parts of compilers, of engines for clusters and of C++, and those with an underscore."""

SEEN = {
    "paddle.hapi.model": "_all_gather",
    "paddle.utils.download": "_decompress _download _get_unique_endpoints _map_path _md5check",
    "paddle.nn.clip": "_squared_l2_norm",
    "paddle.distributed.collective": "_get_default_group _get_global_group",
    "paddle.distributed.parallel": "_get_global_group",
}
"""Names with an underscore that public projects were seen to import."""

LITERALS = (bool, int, float, str, type(None))
LONGEST = 120
"""Characters of a constant that is recorded with its value; of one that holds several, 20 times as many."""


def modules() -> dict[str, types.ModuleType]:
    """Every module of the installed Paddle that counts and can be imported."""
    import paddle

    root = Path(paddle.__file__).parent
    found = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        name = ".".join(("paddle", *(parts[:-1] if parts[-1] == "__init__" else parts)))
        if APART.match(name) or {"include", "libs", "tests", "testing"} & {*parts}:
            continue
        with contextlib.suppress(BaseException), contextlib.redirect_stderr(io.StringIO()):
            found[name] = importlib.import_module(name)
    return found


def is_counted(module: str, name: str) -> bool:
    return not name.startswith("_") or name in SEEN.get(module, "").split()


def literal(value: Any) -> str | None:
    """The text of a constant; None where it has no short one."""
    several = type(value) in (tuple, list, set, dict)
    parts = [*value.keys(), *value.values()] if type(value) is dict else value if several else [value]
    flat = [v for part in parts for v in (part if type(part) in (tuple, list) else [part])]
    if not all(type(v) in LITERALS for v in flat):
        return None
    text = repr(value) if type(value) is not set or not value else "{" + repr(sorted(value, key=repr))[1:-1] + "}"
    elsewhere = any(place in text for place in (sys.prefix, str(Path.home()), os.getcwd()))
    if elsewhere or "\n" in text or re.search(r"\b(nan|inf)\b", text):
        return None
    return text if len(text) <= LONGEST * (20 if several else 1) else None


def origin(name: str, value: Any, holders: dict[int, list[tuple[str, str]]]) -> tuple[str, str]:
    """The module that a value is from and its name there; two empty texts where nothing says so."""
    home, own = getattr(value, "__module__", None), getattr(value, "__name__", None) or getattr(value, "_name", None)
    for candidate in (own, name):
        module = sys.modules.get(home) if isinstance(home, str) else None
        if module is not None and isinstance(candidate, str) and vars(module).get(candidate) is value:
            return str(home), candidate
    held = [at for at in holders[id(value)] if at[1] == name] or holders[id(value)]
    return max(held, key=lambda at: (at[0].count("."), at)) if held else ("", "")


def main() -> None:
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(sys.stderr):
        found = modules()
    holders = defaultdict(list)
    for path, module in found.items():
        for name, value in list(vars(module).items()):
            if not name.startswith("__") and literal(value) is None:
                holders[id(value)].append((path, name))
    record: dict[str, Any] = {}
    for path, module in found.items():
        names = {}
        for name, value in list(vars(module).items()):
            if not is_counted(path, name):
                continue
            if isinstance(value, types.ModuleType):
                names[name] = ["module", value.__name__, ""]
            elif (text := literal(value)) is not None:
                names[name] = ["literal", text, ""]
            else:
                names[name] = ["name", *origin(name, value, holders)]
        listed = getattr(module, "__all__", None)
        record[path] = {"names": names, "all": [str(n) for n in listed] if isinstance(listed, (list, tuple)) else []}
    json.dump(record, sys.stdout)


if __name__ == "__main__":
    main()
