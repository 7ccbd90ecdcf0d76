"""Values, gradients, names and errors of losses, against formulas in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import DtypeError, LabelError, ShapeError, UsageError
from gradtool.paddle.nn import functional as F
from tests.paddle.one_program import compute, gradient, made_by, variables

RNG = np.random.default_rng(6)
LOGITS = RNG.normal(size=(4, 3))
LABELS = np.array([2, 0, 1, 1])
P = RNG.uniform(0.1, 0.9, (4, 3))
TARGET = RNG.uniform(0.0, 1.0, (4, 3))
SOFT = TARGET / TARGET.sum(-1, keepdims=True)
WEIGHT = np.array([0.5, 2.0, 1.5])
REDUCTIONS = {"mean": np.mean, "sum": np.sum, "none": lambda loss: loss}
each_reduction = pytest.mark.parametrize("reduction", REDUCTIONS)


def log_softmax(x: np.ndarray, axis: int = -1) -> np.ndarray:
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


LOG_P = log_softmax(LOGITS)
PICKED = -LOG_P[np.arange(4), LABELS]


def huber(x: np.ndarray, y: np.ndarray, delta: float) -> np.ndarray:
    r = np.abs(y - x)
    return np.where(r <= delta, r * r / 2, delta * (r - delta / 2))


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def cross(p: np.ndarray, y: np.ndarray) -> np.ndarray:
    return -(y * np.log(p) + (1 - y) * np.log(1 - p))


LOSSES: dict[str, tuple[Any, np.ndarray, np.ndarray, list[str]]] = {
    "mse": (F.mse_loss, LOGITS, (LOGITS - TARGET) ** 2, ["elementwise_sub", "square"]),
    "l1": (F.l1_loss, LOGITS, np.abs(LOGITS - TARGET), ["elementwise_sub", "abs"]),
    "smooth_l1": (F.smooth_l1_loss, LOGITS, huber(LOGITS, TARGET, 1.0), ["huber_loss"]),
    "bce": (F.binary_cross_entropy, P, cross(P, TARGET), ["bce_loss"]),
    "bce_logits": (
        F.binary_cross_entropy_with_logits,
        LOGITS,
        cross(sigmoid(LOGITS), TARGET),
        ["fill_constant", "sigmoid_cross_entropy_with_logits"],
    ),
    "kl_div": (F.kl_div, LOG_P, TARGET * (np.log(TARGET) - LOG_P), ["kldiv_loss"]),
}
REDUCE = {"mean": ["reduce_mean"], "sum": ["reduce_sum"], "none": []}


@each_reduction
@pytest.mark.parametrize("name", LOSSES)
def test_losses_of_elements(name: str, reduction: str) -> None:
    function, x, loss, types = LOSSES[name]
    result = compute(lambda x, y: function(x, y, reduction=reduction), x=x, y=TARGET)
    np.testing.assert_allclose(result, REDUCTIONS[reduction](loss), rtol=1e-12)
    operators = [o.type for o in paddle.static.default_main_program().global_block().ops]
    assert operators == types + REDUCE[reduction]


@pytest.mark.parametrize("name", LOSSES)
def test_unknown_reduction(name: str) -> None:
    function, x, _, _ = LOSSES[name]
    with pytest.raises(UsageError, match=r"The value of 'reduction' in .* should be 'sum' or 'mean' or 'none'"):
        compute(lambda x, y: function(x, y, reduction="most"), x=x, y=TARGET)


def test_delta_of_smooth_l1() -> None:
    result = compute(lambda x, y: F.smooth_l1_loss(x, y, "none", delta=0.4), x=LOGITS, y=TARGET)
    np.testing.assert_allclose(result, huber(LOGITS, TARGET, 0.4))
    result = compute(lambda u, v: F.smooth_l1_loss(u, v, "none", 0.4, is_huber=False), u=LOGITS, v=TARGET)
    np.testing.assert_allclose(result, huber(LOGITS, TARGET, 0.4) / 0.4)


def test_slopes_of_smooth_l1() -> None:
    x = np.array([0.0, 0.5, -0.5, 1.0, 3.0, -3.0])
    grad = gradient(lambda x: F.smooth_l1_loss(x, paddle.zeros([6], "float64"), "sum"), x)
    assert grad.tolist() == [0.0, 0.5, -0.5, 1.0, 1.0, -1.0]


class TestBinary:
    @pytest.mark.parametrize("name", ["bce", "bce_logits"])
    def test_weights(self, name: str) -> None:
        function, x, loss, _ = LOSSES[name]
        result = compute(lambda x, y, w: function(x, y, w), x=x, y=TARGET, w=WEIGHT)
        np.testing.assert_allclose(result, (WEIGHT * loss).mean())

    def test_positive_weight(self) -> None:
        p = sigmoid(LOGITS)
        expected = -(WEIGHT * TARGET * np.log(p) + (1 - TARGET) * np.log(1 - p))
        result = compute(
            lambda x, y, w: F.binary_cross_entropy_with_logits(x, y, pos_weight=w, reduction="none"),
            x=LOGITS,
            y=TARGET,
            w=WEIGHT,
        )
        np.testing.assert_allclose(result, expected)
        types = [o.type for o in paddle.static.default_main_program().global_block().ops]
        assert types == [
            *["fill_constant", "elementwise_sub", "elementwise_mul", "elementwise_add"],
            "sigmoid_cross_entropy_with_logits",
        ]

    def test_certain_probabilities(self) -> None:
        x, y = np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 0.0, 1.0])
        result = compute(lambda x, y: F.binary_cross_entropy(x, y, reduction="none"), x=x, y=y)
        assert result.tolist() == [0.0, 100.0, 100.0, 0.0]

    def test_logits_of_any_size(self) -> None:
        x, y = np.array([1000.0, 1000.0, -1000.0, -1000.0], "float32"), np.array([0.0, 1.0, 0.0, 1.0], "float32")
        result = compute(lambda x, y: F.binary_cross_entropy_with_logits(x, y, reduction="none"), x=x, y=y)
        assert result.tolist() == [1000.0, 0.0, 0.0, 1000.0]
        label = paddle.assign(y)
        slopes = gradient(lambda v: F.binary_cross_entropy_with_logits(v, label, reduction="sum"), x)
        assert slopes.tolist() == [1.0, 0.0, 0.0, -1.0]

    def test_names(self) -> None:
        assert made_by(lambda x, y: F.binary_cross_entropy(x, y, reduction="none"), x=P, y=TARGET)[0] == (
            "binary_cross_entropy_0.tmp_0"
        )

    def test_shapes_must_be_the_same(self) -> None:
        with pytest.raises(ShapeError, match=r"bce_loss: X \[4, 3\] and Label \[3\] must have the same shape"):
            compute(F.binary_cross_entropy, input=P, label=TARGET[0])


class TestKlDiv:
    def test_batchmean(self) -> None:
        result = compute(lambda x, y: F.kl_div(x, y, "batchmean"), x=LOG_P, y=SOFT)
        np.testing.assert_allclose(result, (SOFT * (np.log(SOFT) - LOG_P)).sum() / 4)

    def test_targets_that_are_not_positive(self) -> None:
        y = np.array([0.0, 1.0, 0.5, -1.0])
        result = compute(lambda x, y: F.kl_div(x, y, "none"), x=np.array([1.0, 2.0, 3.0, 4.0]), y=y)
        np.testing.assert_allclose(result, [0.0, -2.0, 0.5 * (np.log(0.5) - 3.0), 0.0])

    def test_logarithms_as_targets(self) -> None:
        result = compute(lambda x, y: F.kl_div(x, y, "none", log_target=True), x=LOG_P, y=np.log(SOFT))
        np.testing.assert_allclose(result, SOFT * (np.log(SOFT) - LOG_P))

    def test_two_precisions(self) -> None:
        result = compute(F.kl_div, input=LOG_P.astype("float32"), label=SOFT)
        assert result.dtype == np.float64


class TestNllLoss:
    @each_reduction
    def test_values(self, reduction: str) -> None:
        result = compute(lambda x, y: F.nll_loss(x, y, reduction=reduction), x=LOG_P, y=LABELS)
        np.testing.assert_allclose(result, REDUCTIONS[reduction](PICKED))

    def test_weighted_mean_without_ignored_labels(self) -> None:
        result = compute(lambda x, y, w: F.nll_loss(x, y, w, ignore_index=1), x=LOG_P, y=LABELS, w=WEIGHT)
        shares = np.where(LABELS == 1, 0, WEIGHT[LABELS])
        np.testing.assert_allclose(result, (shares * PICKED).sum() / shares.sum())

    def test_nothing_but_ignored_labels(self) -> None:
        assert compute(lambda x, y: F.nll_loss(x, y, ignore_index=1), x=LOG_P, y=np.ones(4, "int64")) == 0.0

    @pytest.mark.parametrize("shape", [(4, 3, 5), (4, 3, 2, 5), (4, 3, 2, 2, 3)])
    def test_pictures(self, shape: tuple[int, ...]) -> None:
        x = RNG.normal(size=shape)
        y = RNG.integers(0, 3, (shape[0], *shape[2:]))
        result = compute(lambda x, y: F.nll_loss(x, y, reduction="none"), x=x, y=y)
        np.testing.assert_allclose(result, -np.take_along_axis(x, y[:, None], 1)[:, 0])

    def test_unknown_batch(self) -> None:
        x, y = paddle.static.data("x", [-1, 3, 5], "float64"), paddle.static.data("y", [-1, 5], "int64")
        loss = F.nll_loss(x, y, reduction="none")
        assert loss.shape == (-1, 5)
        values, labels = RNG.normal(size=(2, 3, 5)), RNG.integers(0, 3, (2, 5))
        (result,) = paddle.static.Executor().run(feed={"x": values, "y": labels}, fetch_list=[loss])
        np.testing.assert_allclose(result, -np.take_along_axis(values, labels[:, None], 1)[:, 0])

    def test_errors(self) -> None:
        with pytest.raises(ShapeError, match=r"Label \[3\] does not fit X \[4, 3\]: it must be \[4\]"):
            compute(lambda x, y: F.nll_loss(x, y), x=LOG_P, y=LABELS[:3])
        with pytest.raises(ShapeError, match="must have two or more dimensions"):
            compute(lambda u, v: F.nll_loss(u, v), u=LOG_P[0], v=LABELS)
        with pytest.raises(ShapeError, match=r"Weight \[2\] must hold one number for each of 3 classes"):
            compute(lambda p, q, w: F.nll_loss(p, q, w), p=LOG_P, q=LABELS, w=WEIGHT[:2])

    def test_label_that_is_no_class(self) -> None:
        with pytest.raises(LabelError, match="nll_loss: label 3 is none of the 3 classes"):
            compute(F.nll_loss, input=LOG_P, label=np.array([0, 1, 3, 2]))


def test_log_loss() -> None:
    result = compute(lambda x, y: F.log_loss(x, y, epsilon=0.01), x=P[:, :1], y=TARGET[:, :1])
    p, y = P[:, :1], TARGET[:, :1]
    np.testing.assert_allclose(result, -y * np.log(p + 0.01) - (1 - y) * np.log(1 - p + 0.01))


def test_label_smooth() -> None:
    np.testing.assert_allclose(compute(lambda x: F.label_smooth(x, epsilon=0.2), x=SOFT), 0.8 * SOFT + 0.2 / 3)
    result = compute(lambda y, prior: F.label_smooth(y, prior, 0.2), y=SOFT, prior=SOFT[:1])
    np.testing.assert_allclose(result, 0.8 * SOFT + 0.2 * SOFT[0])
    with pytest.raises(UsageError, match="epsilon must be between 0 and 1"):
        F.label_smooth(paddle.static.data("z", [3], "float32"), epsilon=2.0)


def test_square_error_cost() -> None:
    name, types = made_by(F.square_error_cost, input=LOGITS, label=TARGET)
    assert (name, types) == ("square_error_cost_0.tmp_1", ["elementwise_sub", "square"])


class TestSoftmaxWithCrossEntropy:
    def test_hard_labels(self) -> None:
        result = compute(F.softmax_with_cross_entropy, logits=LOGITS, label=LABELS[:, None])
        np.testing.assert_allclose(result, PICKED[:, None])

    def test_labels_without_the_class_dimension(self) -> None:
        result = compute(F.softmax_with_cross_entropy, logits=LOGITS, label=LABELS)
        np.testing.assert_allclose(result, PICKED[:, None])

    def test_soft_labels_along_another_axis(self) -> None:
        soft = SOFT / SOFT.sum(0)
        result = compute(lambda x, y: F.softmax_with_cross_entropy(x, y, True, axis=0), x=LOGITS, y=soft)
        np.testing.assert_allclose(result, -(soft * log_softmax(LOGITS, 0)).sum(0, keepdims=True))

    def test_softmax_comes_first_by_name(self) -> None:
        x = variables({"x": LOGITS, "y": LABELS[:, None]})
        loss, softmax = F.softmax_with_cross_entropy(x["x"], x["y"], return_softmax=True)
        names = ("softmax_with_cross_entropy_0.tmp_1", "softmax_with_cross_entropy_0.tmp_0")
        assert (loss.name, softmax.name) == names

    def test_gradient_through_the_softmax(self) -> None:
        y = paddle.assign(LABELS[:, None])

        def both(x: Any) -> Any:
            loss, softmax = F.softmax_with_cross_entropy(x, y, return_softmax=True)
            return paddle.sum(loss) + paddle.sum(paddle.square(softmax))

        grad = gradient(both, LOGITS)
        p = np.exp(LOG_P)
        expected = p - np.eye(3)[LABELS] + 2 * p * (p - (p * p).sum(-1, keepdims=True))
        np.testing.assert_allclose(grad, expected)

    def test_large_logits(self) -> None:
        label = np.array([[0]])
        assert compute(F.softmax_with_cross_entropy, logits=np.array([[-1000.0, 1000.0]]), label=label) == 2000.0

    @pytest.mark.parametrize(("label", "message"), [(5, "label 5 is none"), (-2, "label -2 is none")])
    def test_label_that_is_no_class(self, label: int, message: str) -> None:
        with pytest.raises(IndexError, match=message):
            compute(F.softmax_with_cross_entropy, logits=LOGITS, label=np.array([[0], [1], [label], [2]]))

    def test_soft_labels_that_do_not_sum_to_one(self) -> None:
        y = paddle.assign(TARGET)
        grad = gradient(lambda x: paddle.sum(F.softmax_with_cross_entropy(x, y, soft_label=True)), LOGITS)
        np.testing.assert_allclose(grad, np.exp(LOG_P) * TARGET.sum(-1, keepdims=True) - TARGET)


class TestCrossEntropy:
    @each_reduction
    @pytest.mark.parametrize("column", [True, False])
    def test_hard_labels(self, column: bool, reduction: str) -> None:
        label = LABELS[:, None] if column else LABELS
        expected = PICKED[:, None] if column else PICKED
        result = compute(lambda x, y: F.cross_entropy(x, y, reduction=reduction), x=LOGITS, y=label)
        np.testing.assert_allclose(result, REDUCTIONS[reduction](expected))

    @pytest.mark.parametrize("ignored", [1, -1])
    def test_ignored_labels(self, ignored: int) -> None:
        labels = np.where(LABELS == 1, ignored, LABELS)
        result = compute(lambda x, y: F.cross_entropy(x, y, ignore_index=ignored), x=LOGITS, y=labels)
        loss = np.where(LABELS == 1, 0, PICKED)
        # The mean leaves out ignored labels only where ignore_index is not negative.
        np.testing.assert_allclose(result, loss.sum() / (2 if ignored == 1 else 4))

    def test_nothing_but_ignored_labels(self) -> None:
        result = compute(lambda x, y: F.cross_entropy(x, y, ignore_index=1), x=LOGITS, y=np.ones(4, "int64"))
        assert result == 0.0

    @each_reduction
    def test_weights(self, reduction: str) -> None:
        result = compute(
            lambda x, y, w: F.cross_entropy(x, y, w, reduction=reduction, ignore_index=1), x=LOGITS, y=LABELS, w=WEIGHT
        )
        shares = np.where(LABELS == 1, 0, WEIGHT[LABELS])
        loss = shares * PICKED
        expected = loss.sum() / shares.sum() if reduction == "mean" else REDUCTIONS[reduction](loss)
        np.testing.assert_allclose(result, expected)

    @pytest.mark.parametrize("axis", [1, -2])
    @pytest.mark.parametrize("weighted", [True, False])
    def test_classes_in_the_middle(self, weighted: bool, axis: int) -> None:
        x, y = RNG.normal(size=(4, 3, 5)), RNG.integers(0, 3, (4, 5))
        shares = WEIGHT[y] if weighted else np.ones((4, 5))
        arrays = {"x": x, "y": y, **({"w": WEIGHT} if weighted else {})}
        result = compute(lambda x, y, w=None: F.cross_entropy(x, y, w, axis=axis), **arrays)
        loss = -np.take_along_axis(log_softmax(x, 1), y[:, None], 1)[:, 0]
        np.testing.assert_allclose(result, (shares * loss).sum() / shares.sum())

    @each_reduction
    @pytest.mark.parametrize("weighted", [True, False])
    def test_soft_labels(self, weighted: bool, reduction: str) -> None:
        shares = SOFT @ WEIGHT[:, None] if weighted else np.ones((4, 1))
        arrays = {"x": LOGITS, "y": SOFT, **({"w": WEIGHT} if weighted else {})}
        result = compute(lambda x, y, w=None: F.cross_entropy(x, y, w, soft_label=True, reduction=reduction), **arrays)
        loss = shares * -(SOFT * LOG_P).sum(-1, keepdims=True)
        expected = loss.sum() / shares.sum() if reduction == "mean" else REDUCTIONS[reduction](loss)
        np.testing.assert_allclose(result, expected)

    def test_soft_labels_and_weights_along_another_axis(self) -> None:
        x, y = RNG.normal(size=(2, 3, 5)), RNG.uniform(size=(2, 3, 5))
        result = compute(lambda x, y, w: F.cross_entropy(x, y, w, soft_label=True, axis=1), x=x, y=y, w=WEIGHT)
        shares = np.einsum("ncl,c->nl", y, WEIGHT)
        loss = shares * -(y * log_softmax(x, 1)).sum(1)
        np.testing.assert_allclose(result, loss.sum() / shares.sum())

    @pytest.mark.parametrize("column", [True, False])
    def test_label_smoothing(self, column: bool) -> None:
        label = LABELS[:, None] if column else LABELS
        smooth = 0.8 * np.eye(3)[LABELS] + 0.2 / 3
        result = compute(lambda x, y: F.cross_entropy(x, y, label_smoothing=0.2), x=LOGITS, y=label)
        np.testing.assert_allclose(result, -(smooth * LOG_P).sum(-1).mean(), rtol=1e-6)

    def test_label_smoothing_along_another_axis(self) -> None:
        x, y = RNG.normal(size=(2, 3, 5)), RNG.integers(0, 3, (2, 5))
        smooth = np.moveaxis(0.8 * np.eye(3)[y] + 0.2 / 3, 2, 1)
        result = compute(lambda x, y: F.cross_entropy(x, y, label_smoothing=0.2, axis=1), x=x, y=y)
        np.testing.assert_allclose(result, -(smooth * log_softmax(x, 1)).sum(1).mean(), rtol=1e-6)

    def test_probabilities(self) -> None:
        p = np.exp(LOG_P)
        result = compute(lambda x, y: F.cross_entropy(x, y, use_softmax=False), x=p, y=LABELS)
        np.testing.assert_allclose(result, PICKED.mean())

    def test_a_probability_of_zero_elsewhere_does_no_harm(self) -> None:
        y = paddle.assign(np.array([0]))
        grad = gradient(lambda x: F.cross_entropy(x, y, use_softmax=False), np.array([[0.5, 0.5, 0.0]]))
        assert grad.tolist() == [[-2.0, 0.0, 0.0]]

    def test_operators(self) -> None:
        name, types = made_by(F.cross_entropy, input=LOGITS, label=LABELS)
        assert (name, types) == ("mean_0.tmp_0", ["unsqueeze2", "softmax_with_cross_entropy", "reduce_mean"])

    def test_operators_of_weights(self) -> None:
        name, types = made_by(F.cross_entropy, input=LOGITS, label=LABELS[:, None], weight=WEIGHT)
        assert name == "tmp_6"
        assert types == [
            *["softmax_with_cross_entropy", "fill_constant", "not_equal", "cast", "elementwise_mul", "fill_constant"],
            *["not_equal", "cast", "squeeze2", "gather_nd", "elementwise_mul", "reshape2", "elementwise_mul"],
            *["reduce_sum", "reduce_sum", "fill_constant", "equal", "cast", "elementwise_add", "elementwise_div"],
        ]

    def test_second_gradient(self) -> None:
        data = variables({"x": LOGITS, "y": LABELS})
        (first,) = paddle.static.gradients([F.cross_entropy(data["x"], data["y"], reduction="sum")], [data["x"]])
        (second,) = paddle.static.gradients([paddle.sum(paddle.square(first))], [data["x"]])
        result = paddle.static.Executor().run(feed={"x": LOGITS, "y": LABELS}, fetch_list=[second])[0]
        p = np.exp(LOG_P)
        residual = 2 * (p - np.eye(3)[LABELS])
        np.testing.assert_allclose(result, p * (residual - (p * residual).sum(-1, keepdims=True)))

    @pytest.mark.parametrize(
        ("label", "message"),
        [
            ([5], r"Logits \[4, 3\] and Label \[5, 1\] differ in dimension 0"),
            ([4, 2], r"dimension 1 of Label \[4, 2\] must be 1"),
            ([4, 1, 1], r"label \[4, 1, 1\] does not fit input \[4, 3\]"),
        ],
    )
    def test_labels_of_a_wrong_shape(self, label: list[int], message: str) -> None:
        x, y = paddle.static.data("x", [4, 3], "float32"), paddle.static.data("y", label, "int64")
        with pytest.raises(ShapeError, match=message):
            F.cross_entropy(x, y)

    def test_soft_labels_of_a_wrong_shape(self) -> None:
        with pytest.raises(ShapeError, match=r"dimension 1 of Label \[4, 2\] must be 3"):
            compute(lambda x, y: F.cross_entropy(x, y, soft_label=True), x=LOGITS, y=SOFT[:, :2])

    def test_weights_of_a_wrong_shape(self) -> None:
        with pytest.raises(ShapeError, match=r"weight \[2\] must hold one number for each of the 3 classes"):
            compute(lambda x, y, w: F.cross_entropy(x, y, w), x=LOGITS, y=LABELS, w=WEIGHT[:2])

    def test_arguments_that_exclude_each_other(self) -> None:
        x, y = (variables({"x": LOGITS, "y": SOFT})[n] for n in "xy")
        with pytest.raises(UsageError, match="no label that could be ignored"):
            F.cross_entropy(x, y, ignore_index=1, soft_label=True)

    def test_unknown_reduction(self) -> None:
        with pytest.raises(UsageError, match="The value of 'reduction' in cross_entropy should be"):
            compute(lambda x, y: F.cross_entropy(x, y, reduction="all"), x=LOGITS, y=LABELS)

    def test_logits_must_be_real(self) -> None:
        with pytest.raises(DtypeError, match="Logits must hold floating-point numbers, but received int64"):
            compute(F.cross_entropy, input=LOGITS.astype("int64"), label=LABELS)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_a_ranking_loss_is_named_after_itself(reduction: str) -> None:
    a, b, label = (paddle.static.data(name, [3]) for name in ("a", "b", "label"))
    loss = F.margin_ranking_loss(a, b, label, reduction=reduction)
    assert loss.name == "margin_ranking_loss_0.tmp_0"
