"""Replaying recorded cases: building a model on gradtool and comparing it with what Paddle built and computed.

The cases and their format: ``tests/oracle/README.md``.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from gradtool import paddle

CASES = Path(__file__).parent.parent / "oracle"
FREE_ORDER = {"conditional_block", "while", "conditional_block_grad", "while_grad"}
UNCOUNTED_SLOTS = {"XShape", "ReserveSpace"}


def names(prefix: str) -> list[str]:
    """The recorded cases whose name starts with *prefix*."""
    return sorted(p.stem for p in CASES.glob(f"{prefix}*.json"))


def as_in_3_1(text: str) -> str:
    """A record with the result names of Paddle 3.1.

    ``paddle.subtract`` and its like call their result ``elementwise_sub_0`` up to 3.1 and ``elementwise_sub_0.tmp_0``
    from 3.3 on; gradtool follows 3.1, in which all of the classic programs can be built.
    """
    return re.sub(r"\b(elementwise_(?:add|sub|mul|div|max|min|floordiv|mod)_\d+)\.tmp_0\b", r"\1", text)


def load(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The namespace of the model file and the record."""
    path = CASES / "models" / f"{name}.py"
    namespace: dict[str, Any] = {"__name__": "model"}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    return namespace, json.loads(as_in_3_1((CASES / f"{name}.json").read_text()))


def array(recorded: dict[str, Any]) -> np.ndarray:
    return np.array(recorded["data"], recorded["dtype"]).reshape(recorded["shape"])


def result_names(result: Any) -> dict[str, Any]:
    """Names of whatever a backward call returned, in the form of the record."""

    def name(v: Any) -> Any:
        return None if v is None else v.name

    if isinstance(result, dict):
        return {"calls": [result_names(r) for r in result["calls"]]}
    if isinstance(result, tuple) and all(isinstance(c, str) for c in result[1]):
        pairs, checkpoints = result
        return {"pairs": [[name(p), name(g)] for p, g in pairs], "checkpoint_names": checkpoints}
    if isinstance(result, tuple):
        operators, pairs = result
        return {
            "pairs": [[name(p), name(g)] for p, g in pairs],
            "optimize_ops": [[o.type, o.input("Param") if "Param" in o.input_names else []] for o in operators],
        }
    if all(isinstance(r, tuple) for r in result):
        return {"pairs": [[name(p), name(g)] for p, g in result]}
    return {"grads": [name(g) for g in result]}


def ops(program: Any) -> list[dict[str, Any]]:
    """Type and slots of every operator, block by block, and the block that it runs."""
    return [
        _ordered(
            {
                "type": o.type,
                "inputs": {n: o.input(n) for n in o.input_names},
                "outputs": {n: o.output(n) for n in o.output_names},
                "block": (block.idx, block.parent_idx, block.forward_block_idx),
                "sub_block": o.attr("sub_block").idx if o.has_attr("sub_block") else None,
            }
        )
        for block in program.blocks
        for o in block.ops
    ]


def recorded_ops(record: dict[str, Any], part: str) -> list[dict[str, Any]]:
    """The same from the record, without the scratch blocks that Paddle leaves behind, which no operator runs."""
    run = {o["attrs"].get("sub_block", {}).get("block") for b in record[part]["blocks"] for o in b["ops"]}
    return [
        _ordered(
            {
                **{k: o[k] for k in ("type", "inputs", "outputs")},
                "block": (b["idx"], b["parent"], b["forward_idx"]),
                "sub_block": o["attrs"]["sub_block"]["block"] if "sub_block" in o["attrs"] else None,
            }
        )
        for b in record[part]["blocks"]
        if b["idx"] == 0 or b["idx"] in run
        for o in b["ops"]
    ]


def _ordered(op: dict[str, Any]) -> dict[str, Any]:
    """*op* with its lists of variables sorted if their order is free; gradients stay with what they belong to."""
    if op["type"] not in FREE_ORDER:
        return op
    slots = {**op["inputs"], **op["outputs"]}
    sorted_slots: dict[str, list[str]] = {}
    for name, entries in slots.items():
        partner = slots.get(name.removesuffix("@GRAD"), [])
        if name.endswith("@GRAD") and len(partner) == len(entries):
            sorted_slots[name] = [g for _, g in sorted(zip(partner, entries, strict=True))]
        else:
            sorted_slots[name] = sorted(entries)
    return {
        **op,
        "inputs": {n: sorted_slots[n] for n in op["inputs"]},
        "outputs": {n: sorted_slots[n] for n in op["outputs"]},
    }


class Replay:
    """A static case, built on gradtool in fresh programs."""

    def __init__(self, name: str) -> None:
        self.namespace, self.record = load(name)
        paddle.enable_static()
        self.main, self.startup = paddle.static.Program(), paddle.static.Program()
        with (
            paddle.utils.unique_name.guard(),
            paddle.static.program_guard(self.main, self.startup),
        ):
            self.outputs = self.namespace["forward"]()
            self.forward_ops = ops(self.main)
            self.result = self.namespace["backward"](self.outputs)
        self.backward_ops = ops(self.main)
        self.scope = paddle.static.Scope()

    def reset(self) -> None:
        """The recorded parameters and other persistable values."""
        for part in ("params", "other_persistables"):
            for name, value in self.record[part].items():
                self.scope.var(name).get_tensor().set(array(value))

    def run(self, fetch: list[str], feed: dict[str, Any] | None = None) -> list[Any]:
        """Values of *fetch* with the recorded feeds."""
        recorded = {n: array(v) for n, v in self.record["feeds"].items()}
        return paddle.static.Executor().run(
            self.main, feed={**recorded, **(feed or {})}, fetch_list=fetch, scope=self.scope
        )

    # -- comparing ------------------------------------------------------------------------------------------------

    def differences(self) -> list[str]:
        """What differs from the record: result names, operators, slots, values. Empty when the case passes whole."""
        faults = []
        if (got := result_names(self.result)) != self.record["result"]:
            faults.append(f"result {got} instead of {self.record['result']}")
        for part, ours in (("forward", self.forward_ops), ("backward", self.backward_ops)):
            theirs = recorded_ops(self.record, part)
            if [o["type"] for o in ours] != [o["type"] for o in theirs]:
                faults.append(f"{part}: types {[o['type'] for o in ours]} instead of {[o['type'] for o in theirs]}")
                continue
            faults += [
                f"{part}: op {i} is {a} instead of {b}"
                for i, (a, b) in enumerate(zip(ours, theirs, strict=True))
                if a != b
            ]
        return faults + self.wrong_values()

    def wrong_values(self) -> list[str]:
        """Recorded values that ours differ from."""
        uncounted = {v for o in self.backward_ops for s, vs in o["outputs"].items() if s in UNCOUNTED_SLOTS for v in vs}
        recorded = {n: v for n, v in self.record["values"].items() if n not in uncounted}
        variables = self.main.global_block().vars
        faults = [f"no variable {n}" for n in recorded if n not in variables]
        wanted = [n for n in recorded if n in variables]
        self.reset()
        for name, value in zip(wanted, self.run(wanted), strict=True):
            if why := close(value, array(recorded[name])):
                faults.append(f"value of {name}: {why}")
        return faults

    def wrong_slopes(self) -> list[str]:
        """Gradients that differ from finite differences of our own forward pass, in up to four elements each."""
        if not self.namespace.get("FD", True):
            return []
        targets = [self.outputs[t] for t in self.namespace.get("TARGETS", ["loss"])]
        weights = self.namespace.get("TARGET_GRADS", [None] * len(targets))
        feeds = {n: array(v) for n, v in self.record["feeds"].items()}
        wanted = dict.fromkeys(g for g in self._gradient_names() if g)
        faults = []
        for gradient in wanted:
            name = gradient.rsplit("/", 1)[-1].removesuffix("@GRAD")
            recorded = self.record["params"].get(name)
            base = array(recorded) if recorded is not None else feeds.get(name)
            if base is None or base.dtype.kind != "f":
                continue
            self.reset()
            (ours,) = self.run([gradient])

            def objective(flat: np.ndarray, name: str = name, base: np.ndarray = base) -> float:
                self.reset()
                changed = flat.reshape(base.shape).astype(base.dtype)
                feed = {name: changed} if name in feeds else None
                if feed is None:
                    self.scope.var(name).get_tensor().set(changed)
                outs = self.run([t.name for t in targets], feed)
                return sum(
                    float((o.astype("float64") * (1.0 if w is None else feeds[self.outputs[w].name])).sum())
                    for o, w in zip(outs, weights, strict=True)
                )

            scale = float(np.abs(ours).max()) if ours.size else 0.0
            for i in np.random.default_rng(0).permutation(base.size)[:4]:
                slope = _slope(objective, base, int(i))
                if slope is not None and abs(slope - float(ours.reshape(-1)[i])) > 2e-3 + 0.03 * scale:
                    faults.append(f"{gradient}[{i}] is {ours.reshape(-1)[i]:.5g}, its finite difference {slope:.5g}")
        return faults

    def _gradient_names(self) -> list[str | None]:
        names_ = result_names(self.result)
        return [g for _, g in names_.get("pairs", [])] + names_.get("grads", [])


def _slope(objective: Any, base: np.ndarray, i: int) -> float | None:
    """Central difference of fourth order at element *i*; None where a kink lies within the step."""
    eps = 1e-5 if base.dtype == np.float64 else 4e-3

    def at(step: float) -> float:
        flat = base.astype("float64").reshape(-1).copy()
        flat[i] += step
        return objective(flat)

    middle = at(0.0)
    up, down, half_up, half_down = at(eps), at(-eps), at(eps / 2), at(-eps / 2)
    wide, narrow = (up - down) / (2 * eps), (half_up - half_down) / eps
    bend, half_bend = (up + down - 2 * middle) / eps, (half_up + half_down - 2 * middle) / (eps / 2)
    if abs(wide - narrow) > 2e-3 + 0.02 * abs(narrow) or (abs(half_bend) > 4e-3 and abs(half_bend) > 0.75 * abs(bend)):
        return None
    return (4 * narrow - wide) / 3


def close(ours: Any, recorded: np.ndarray) -> str | None:
    """Why the values differ beyond the oracle's tolerance, or None."""
    ours = np.asarray(ours)
    if ours.shape != recorded.shape:
        return f"shape {ours.shape}, recorded {recorded.shape}"
    if ours.dtype != recorded.dtype:
        return f"dtype {ours.dtype}, recorded {recorded.dtype}"
    if not recorded.size:
        return None
    if recorded.dtype.kind != "f":
        return None if np.array_equal(ours, recorded) else f"{ours} is not {recorded}"
    limit = max(1e-6, 1e-5 * float(np.abs(recorded).max())) + 1e-4 * np.abs(recorded)
    off = np.abs(ours.astype("float64") - recorded)
    return None if bool((off <= limit).all()) else f"off by {off.max():.3g} of {np.abs(recorded).max():.3g}"
