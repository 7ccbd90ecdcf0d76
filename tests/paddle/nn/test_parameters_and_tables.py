"""Parameters that users make, tables whose rows keep short, and initializers under their older names."""

from __future__ import annotations

import numpy as np
import pytest

from gradtool import paddle

nn = paddle.nn

pytestmark = pytest.mark.usefixtures("dynamic", "fresh_names")


def test_a_tensor_becomes_a_parameter() -> None:
    x = paddle.ones([2])
    p = nn.Parameter(x)
    assert (p.name, p.trainable, p.persistable) == ("_eager_param_base_0", True, True)
    assert not nn.Parameter(x, requires_grad=False).trainable
    assert nn.Parameter().shape == [0]
    assert isinstance(p, nn.Parameter)
    assert isinstance(nn.Linear(2, 2).weight, nn.Parameter)
    assert not isinstance(x, nn.Parameter)
    x[0] = 5.0
    assert p.numpy().tolist() == [5.0, 1.0]
    layer = nn.Layer()
    layer.scale = p
    assert layer.parameters() == [p]


def test_parameters_under_names() -> None:
    a, b = nn.Parameter(paddle.ones([2])), nn.Parameter(paddle.ones([3]))
    held = nn.ParameterDict({"a": a})
    held["b"] = b
    assert (list(held), len(held), held["b"]) == (["a", "b"], 2, b)
    assert list(nn.ParameterDict(held)) == list(nn.ParameterDict([("a", a), ("b", b)])) == ["a", "b"]
    assert [n for n, _ in held.named_parameters()] == ["a", "b"]
    for wrong in (3, {"a": 3}):
        with pytest.raises(TypeError):
            nn.ParameterDict(wrong)
    with pytest.raises(AssertionError, match="takes parameters"):
        held["c"] = 3
    with pytest.raises(ValueError, match="length of the 0's element"):
        nn.ParameterDict([("a",)])


def test_rows_that_are_looked_up_are_shortened() -> None:
    table = np.array([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]])
    weight = nn.Parameter(paddle.to_tensor(table))
    assert nn.functional.embedding_renorm_(paddle.to_tensor([0, 1, 0]), weight, 1.0) is weight
    np.testing.assert_allclose(weight.numpy(), [[0.6, 0.8], [0.3, 0.4], [6.0, 8.0]], rtol=1e-6)
    assert not weight.stop_gradient
    paddle.enable_static()
    with pytest.raises(AssertionError, match="static mode is on"):
        nn.functional.embedding_renorm_(paddle.static.data("x", [2], "int64"), weight, 1.0)


def test_initializers_have_their_older_names_too() -> None:
    for name in ("Constant", "MSRA", "Normal", "TruncatedNormal", "Uniform", "Xavier"):
        assert name + "Initializer" in dir(nn.initializer)
    start = nn.initializer.UniformInitializer(1.0, 2.0)
    values = nn.Linear(3, 4, weight_attr=start).weight.numpy()
    assert ((values >= 1) & (values <= 2)).all()
    assert nn.initializer.NumpyArrayInitializer is not nn.initializer.Assign
    with pytest.raises(AttributeError, match="Unifrom"):
        nn.initializer.Unifrom  # noqa: B018
