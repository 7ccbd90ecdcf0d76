"""What PyTorch's exporter says of initializers decides which are parameters, and what they are called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper

from gradtool.engine.importers.onnx import reading
from tests.onnx.models import model, node, weights

KIND = "pkg.torch.export.graph_signature.InputSpec.kind"
PARTS = "pkg.onnxscript.optimizer.folded_from"


def exported(told: dict[str, dict[str, str]]) -> Any:
    """A linear layer with a scale and a mask; *told* is what the file says of its values."""
    values = {
        "val_1": weights(4, 3),
        "layer.bias": weights(3, seed=1),
        "val_2": np.asarray(0.5, "float32"),
        "mask": np.ones(3, "float32"),
    }
    nodes = [
        node("MatMul", "x val_1", "a"),
        node("Add", "a layer.bias", "b"),
        node("Mul", "b val_2", "c"),
        node("Mul", "c mask", "y"),
    ]
    content = model(nodes, {"x": [2, 4]}, ["y"], values)
    for name, texts in told.items():
        value = helper.make_tensor_value_info(name, TensorProto.FLOAT, values[name].shape)
        for key, text in texts.items():
            value.metadata_props.add(key=key, value=text)
        content.graph.value_info.append(value)
    return content


def parameters(told: dict[str, dict[str, str]]) -> list[str]:
    result = reading.read(exported(told).SerializeToString(), "model.onnx", Path())
    return [p.name for p in result.program.all_parameters()]


SAID = {"layer.bias": {KIND: "PARAMETER"}, "mask": {KIND: "BUFFER"}, "val_1": {PARTS: "['layer.weight']"}}


def test_constants_and_buffers_are_no_parameters_and_weights_have_their_names() -> None:
    assert parameters(SAID) == ["layer.weight", "layer.bias"]


def test_of_other_files_all_are() -> None:
    assert parameters({}) == ["val_1", "layer.bias", "val_2", "mask"]


@pytest.mark.parametrize("parts", ["['layer.weight', 'other.weight']", "['layer.bias']"])
def test_what_is_made_of_several_or_is_there_keeps_its_own_name(parts: str) -> None:
    assert parameters(SAID | {"val_1": {PARTS: parts}}) == ["val_1", "layer.bias"]


@pytest.mark.parametrize("parts", ["['val_7']", "[", "3", "__import__('os')"])
def test_what_names_no_weight_is_a_constant(parts: str) -> None:
    assert parameters(SAID | {"val_1": {PARTS: parts}}) == ["layer.bias"]
