"""Write ``attribute_defaults.json``: what Paddle's operators take their attributes to be when a program says nothing.

Run with an interpreter that has Paddle 3.1.1: ``FLAGS_enable_pir_api=0 python tests/ops/record_attribute_defaults.py``.
An operator's entry holds its attributes by name; null stands for one that has no default and has to be stated.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

EVERYWHERE = {"op_role", "op_role_var", "op_namescope", "op_callstack", "op_device", "with_quant_attr"}
"""What every operator of Paddle has."""


def main() -> None:
    from paddle.base import core, framework

    recorded: dict[str, dict[str, Any]] = {}
    for type_, proto in sorted(framework.OpProtoHolder.instance().op_proto_map.items()):
        defaults = {**core.get_op_extra_attrs(type_), **core.get_op_attrs_default_value(type_.encode())}
        names = {attr.name for attr in proto.attrs} | set(core.get_op_extra_attrs(type_))
        recorded[type_] = {name: defaults.get(name) for name in sorted(names - EVERYWHERE)}
    lines = [f"{json.dumps(t)}: {json.dumps(d, default=str)}" for t, d in recorded.items() if d]
    target = Path(__file__).with_name("attribute_defaults.json")
    target.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
