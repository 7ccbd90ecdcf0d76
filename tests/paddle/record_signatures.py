"""Records the signatures of Paddle's public functions, classes and methods that gradtool has too.

Run with an interpreter that has Paddle 3.3.1, then with one that has 3.1.1, from the top of the repository::

    PADDLE/bin/python tests/paddle/record_signatures.py

``public_signatures.json`` holds, for each name, the parameters as text; of 3.1.1 only what differs from 3.3.1.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
OUT = HERE / "public_signatures.json"


def public_names() -> Iterator[str]:
    """``nn.functional.relu`` for each line of the list."""
    package = ""
    for line in (HERE / "public_names.txt").read_text(encoding="utf-8").splitlines():
        if line.endswith(":"):
            package = line.removesuffix(":").removeprefix("gradtool.paddle").removeprefix(".")
        elif line:
            yield f"{package}.{line.strip()}".removeprefix(".")


def parameters(function: Any) -> str | None:
    """The parameters as they are written, without annotations; None when nothing is known of them."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return None
    written = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=written, return_annotation=signature.empty))[1:-1]


def signatures(root: Any) -> dict[str, str]:
    """Name -> parameters, of everything public below *root* that can be called, methods of classes with it."""
    texts: dict[str, str] = {}
    methods: set[int] = set()
    for name in public_names():
        value = root
        for part in name.split("."):
            value = getattr(value, part, None)
        if not callable(value) or inspect.ismodule(value):
            continue
        entries = {name: value}
        if inspect.isclass(value):
            public = [n for n in dir(value) if not n.startswith("_")]
            entries |= {f"{name}.{n}": getattr(value, n) for n in public if inspect.isroutine(getattr(value, n))}
        for path, entry in entries.items():
            text = parameters(entry)
            own = id(getattr(entry, "__func__", entry))  # a class method is bound anew each time
            if text is None or (path != name and own in methods):
                continue
            methods.add(own)
            texts[path] = text
    return texts


def main() -> None:
    import paddle

    texts = signatures(paddle)
    content = json.loads(OUT.read_text(encoding="utf-8")) if OUT.exists() else {}
    version = paddle.__version__
    if version != "3.3.1":
        texts = {name: text for name, text in texts.items() if content["3.3.1"].get(name) != text}
    content[version] = texts
    OUT.write_text(json.dumps(content, indent=0, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
