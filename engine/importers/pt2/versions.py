"""Programs of older versions of the schema, told as those of the newest.

| version | torch |
|--|--|
| 1 | 2.1 |
| 2 to 4 | 2.2 |
| 5 | 2.3, 2.4 |
| 6, 7 | 2.5 |
| 8 | 2.6 and later |
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Any, Final

from ...files.zip_members import Fail

Constant = Callable[[str, bytes], dict[str, Any]]

OLDEST: Final = 1
NEWEST: Final = 8
"""Versions of the schema, by their first number, that are read."""

_WITHOUT_NULLS: Final = 5
"""From here on, what may be one of several things says the one that it is; before, it says null of all others."""
_WITH_SPECS: Final = 2
"""From here on, the signature lists inputs and outputs in order; before, it has a table for each kind."""

_ROOT: Final = re.compile(r"\AL__[a-z]+___(?=.)")


def modern(program: dict[str, Any], version: int, constant: Constant, fail: Fail) -> dict[str, Any]:
    """The program, as the newest version of the schema would say it.

    Args:
        constant: keeps a tensor of which the program has the bytes, and says of which shape and type it is.
        fail: raises what is wrong with the file.
    """
    if version < _WITHOUT_NULLS:
        _drop_nulls(program)
    if version < _WITH_SPECS:
        try:
            module = program["graph_module"]
            module["signature"] = _as_lists(module["signature"], module["graph"], constant)
        except (TypeError, ValueError, LookupError, AttributeError) as error:
            fail(f"its signature is damaged: {type(error).__name__} {error}")
    return program


def own_name(name: str) -> str:
    """Return a module's name for a parameter: torch 2.1 writes how the function reaches it, ``L__self___fc.weight``."""
    return _ROOT.sub("", name)


def _drop_nulls(program: dict[str, Any]) -> None:
    pending: list[Any] = [program]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            for key in [k for k, v in value.items() if v is None]:
                del value[key]
        if isinstance(value, (dict, list)):
            pending += value.values() if isinstance(value, dict) else value


def _as_lists(signature: Any, graph: Any, constant: Constant) -> dict[str, Any]:
    """The tables of version 1 as lists of inputs and outputs; its constants are inputs."""
    for name, value in graph["tensor_values"].items():
        graph["tensor_values"][name] = value["meta"]
    parameters, buffers = signature["inputs_to_parameters"], signature["inputs_to_buffers"]
    inputs: list[Any] = []
    for argument in graph["inputs"]:
        name = argument["as_tensor"]["name"] if "as_tensor" in argument else ""
        arg = {"name": name}
        if name in parameters:
            inputs.append({"parameter": {"arg": arg, "parameter_name": own_name(parameters[name])}})
        elif name in buffers:
            inputs.append({"buffer": {"arg": arg, "buffer_name": own_name(buffers[name])}})
        else:
            inputs.append({"user_input": {"arg": argument}})
    for name, text in graph.get("constants", {}).items():
        graph["tensor_values"][name] = constant(name, base64.b64decode(text))
        inputs.append({"tensor_constant": {"arg": {"name": name}, "tensor_constant_name": name}})
    written = signature["buffers_to_mutate"]
    outputs: list[Any] = []
    for argument in graph["outputs"]:
        name = argument["as_tensor"]["name"] if "as_tensor" in argument else ""
        if name in written:
            outputs.append({"buffer_mutation": {"arg": {"name": name}, "buffer_name": own_name(written[name])}})
        else:
            outputs.append({"user_output": {"arg": argument}})
    return {"input_specs": inputs, "output_specs": outputs}
