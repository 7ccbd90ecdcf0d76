"""Record what Paddle's operators are and do; ``python -m tests.appended --record PYTHON`` runs it.

It needs Paddle 3.1.1 with ``FLAGS_enable_pir_api=0`` and nothing of gradtool. ``registry.txt`` gets a line for each
type of its registry: the slots (``*`` holds a list, ``?`` may be left out, ``~`` is kept for the gradient only), behind
a ``|`` the word ``cpu`` where there is a kernel for it. Given a file of calls (``calls.py`` writes it), each of them is
appended to a program, differentiated and run, in a process of its own, and what came is written.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np

EMPTY = ("InnerCache", "W_Out", "XShape", "WarpCTCGrad", "warprnntgrad")
"""What Paddle keeps for its gradient operators, or leaves empty."""
IN_PLACE = ("average_accumulates", "merged_adam", "merged_momentum")
"""What writes its outputs to the variables of its inputs, and to no others."""
FORWARD_ONLY = ("rms_norm", "variance")
"""What Paddle's programs cannot differentiate on the CPU."""
REGISTRY = Path(__file__).with_name("registry.txt")


def registry(paddle: Any) -> None:
    """Write the types and slots."""
    kernels = paddle.base.core._get_all_register_op_kernels("all")
    lines = []
    for type_, proto in sorted(paddle.base.framework.OpProtoHolder.instance().op_proto_map.items()):
        on_cpu = any("Place(cpu)" in k and "PLAIN" in k for k in kernels.get(type_, ()))
        words = [type_ + ":", *map(_slot, proto.inputs), "->", *map(_slot, proto.outputs), *["| cpu"] * on_cpu]
        lines.append(" ".join(words))
    REGISTRY.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _slot(slot: Any) -> str:
    return slot.name + "*" * slot.duplicable + "?" * slot.dispensable + "~" * slot.intermediate


# -- calls ------------------------------------------------------------------------------------------------------------


def weights(shape: Any) -> np.ndarray:
    """What stands for the gradient of an output of that shape: different everywhere, and the same in every process."""
    return np.cos(np.arange(int(np.prod(shape)), dtype="float64") * 0.7 + 0.3).reshape(shape)


def appended(paddle: Any, call: Any) -> dict[str, Any]:
    """What one call does: types and values of its outputs and gradients, and the operators of the gradient.

    Args:
        paddle: Paddle, or what has its shape.
        call: the type, slot -> arrays, attributes, slots of outputs (``*`` with their number), those that have a
            gradient, and those inputs whose gradients are asked for.
    """
    type_, inputs, attrs, outputs, differentiated, wrt = call
    main = paddle.static.Program()
    with paddle.static.program_guard(main, paddle.static.Program()):
        block = main.global_block()
        feed: dict[str, Any] = {}

        def fed(name: str, array: Any, stop: bool, shape: Any = None) -> Any:
            feed[name] = array
            v = paddle.static.data(name, list(array.shape if shape is None else shape), str(array.dtype))
            v.stop_gradient = stop
            return v

        ins = {
            slot: [fed(f"{slot}_{i}", a, slot not in wrt) for i, a in enumerate(arrays)]
            for slot, arrays in inputs.items()
        }
        outs = {
            slot: [block.create_var(name=f"out_{slot}_{i}", dtype="float32") for i in range(count)]
            for slot, count in outputs.items()
        }
        if type_ in IN_PLACE:
            for slot, targets in outs.items():
                source = slot.replace("out_", "in_").removesuffix("Out")
                for fed_one, target in zip(ins[source], targets, strict=True):
                    block.append_op(type="assign", inputs={"X": [fed_one]}, outputs={"Out": [target]})
                ins[source] = targets
        block.append_op(type=type_, inputs=ins, outputs=outs, attrs=attrs)
        listed = [v for slot in sorted(outs) if slot not in EMPTY for v in outs[slot]]
        exe = paddle.static.Executor(paddle.CPUPlace())
        values = _ran(exe, main, feed, listed)
        told: dict[str, Any] = {"out": dict(zip([v.name for v in listed], values, strict=True))}
        told["shapes"] = {v.name: [list(v.shape), str(v.dtype).rpartition(".")[2]] for v in listed}
        if not differentiated or not wrt or type_ in FORWARD_ONLY:
            return told
        targets = [v for slot in differentiated for v in outs[slot]]
        by_name = dict(zip([v.name for v in listed], values, strict=True))
        seeds = [
            fed(f"seed_{v.name}", weights(np.shape(by_name[v.name])).astype(by_name[v.name].dtype), True, v.shape)
            for v in targets
        ]
        asked = [v for slot in sorted(ins) if slot in wrt for v in ins[slot]]
        count = len(block.ops)
        grads = paddle.static.gradients(targets, asked, target_gradients=seeds)
        told["ops"] = [
            [
                op.type,
                sorted(n for n in op.input_names if op.input(n)),
                sorted(n for n in op.output_names if op.output(n)),
            ]
            for op in block.ops[count:]
        ]
        there = [(v.name, g) for v, g in zip(asked, grads, strict=True) if g is not None]
        values = _ran(exe, main, feed, [g for _, g in there]) if there else []
        told["grad"] = {name: value for (name, _), value in zip(there, values, strict=True)}
        return told


def _ran(exe: Any, main: Any, feed: Any, fetched: Any) -> list[Any]:
    """Arrays; None where an operator left an output empty."""
    results = exe.run(main, feed=feed, fetch_list=fetched, return_numpy=False)
    return [_array(v) for v in results]


def _array(value: Any) -> Any:
    if hasattr(value, "_is_initialized") and not value._is_initialized():
        return None
    return None if value is None else np.array(value)


def apart(paddle: Any, call: Any) -> Any:
    """The same in a process of its own: an operator that ends the process takes no other with it."""
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        os.close(reads)
        signal.alarm(20)  # what waits for itself is ended
        try:
            told: Any = appended(paddle, call)
        except BaseException as error:  # whatever it is, it is what is to be told
            lines = [line for line in str(error).splitlines() if line.strip()]
            said = [line for line in lines if "Error: " in line] or lines or [type(error).__name__]
            told = {"error": f"{type(error).__name__}: {said[-1].strip()[:200]}"}
        with os.fdopen(writes, "wb") as pipe:
            pipe.write(pickle.dumps(told))
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads, "rb") as pipe:
        data = pipe.read()
    os.waitpid(child, 0)
    return pickle.loads(data) if data else {"error": "the process ended"}


def main() -> None:
    import paddle

    paddle.enable_static()
    if len(sys.argv) == 1:
        registry(paddle)
        return
    source, target = map(Path, sys.argv[1:])
    calls = pickle.loads(source.read_bytes())
    told = {label: apart(paddle, call) for label, call in calls.items()}
    target.write_bytes(pickle.dumps(told))
    print(json.dumps({"calls": len(told), "refused": sum("error" in t for t in told.values())}))


if __name__ == "__main__":
    main()
