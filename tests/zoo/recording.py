"""Records what Paddle computes of the zoo, and how long it takes: run by its Python, from the top of the repository.

``PYTHON -m tests.zoo.recording NAME…`` writes records; with ``--once`` first it runs one model as people do, once.
"""

from __future__ import annotations

import json
import sys

import paddle

from tests.zoo.measured import RECORDED, loaded, measured


def written(outcome: dict[str, object]) -> str:
    """A record as JSON with a parameter a line."""
    compact = {**outcome, "gradients": "GRADIENTS"}
    losses = []
    for label, gradients in dict(outcome["gradients"]).items():
        rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in gradients.items())
        losses.append(f" {json.dumps(label)}: {{\n{rows}\n }}")
    text = json.dumps(compact)
    return text.replace('"GRADIENTS"', "{\n" + ",\n".join(losses) + "\n}") + "\n"


def main() -> None:
    """Record the models that the command line names."""
    words = sys.argv[1:]
    if words[0] == "--once":
        module = loaded(words[1])
        losses = module.loss(module.network())
        for loss in losses.values() if isinstance(losses, dict) else [losses]:
            loss.backward(retain_graph=True)
        return
    for name in words:
        outcome = {"paddle": paddle.__version__, **measured(name, paddle)}
        text = written(outcome)
        assert json.loads(text) == outcome
        (RECORDED / f"{name}.json").write_text(text, encoding="utf-8")
        print(name, len(text), outcome["losses"], flush=True)


if __name__ == "__main__":
    main()
