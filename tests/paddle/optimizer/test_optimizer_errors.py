"""What optimizers refuse, and their names in version 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradtool import paddle
from gradtool.engine.core.errors import GradtoolError
from gradtool.engine.ir.verify import verify
from tests.paddle.optimizer.optimizer_programs import main_ops, network, run

optimizer = paddle.optimizer


pytestmark = pytest.mark.usefixtures("fresh_names")


# -- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "errors"),
    [
        ("SGD(None)", (ValueError,)),
        ("SGD('a')", (TypeError,)),
        ("SGD(1)", (TypeError,)),
        ("Adam(None)", (AssertionError,)),
        ("SGD(0.1, weight_decay='a')", (TypeError,)),
        ("SGD(0.1, grad_clip=3)", (TypeError,)),
        ("SGD(0.1, parameters=3)", (TypeError,)),
        ("SGD(0.1, parameters=['a'])", (AttributeError,)),
        ("SGD(0.1, parameters=[{'params': [], 'beta1': 0.5}])", (ValueError,)),
        ("SGD(0.1, parameters=[{'learning_rate': 0.5}])", (ValueError,)),
        ("SGD(0.1, parameters=[{'params': [], 'learning_rate': 'a'}])", (TypeError,)),
        ("Momentum(0.1, None)", (ValueError,)),
        ("Adam(0.1, beta1=1.0)", (ValueError,)),
        ("Adam(0.1, beta1=None)", (AssertionError,)),
        ("Adam(0.1, beta2='a')", (TypeError,)),
        ("Adam(0.1, epsilon=-1)", (ValueError,)),
        ("AdamW(0.1, weight_decay='a')", (TypeError,)),
        ("Adagrad(0.1, epsilon=None)", (AssertionError,)),
        ("Adadelta(0.1, rho=None)", (AssertionError,)),
        ("RMSProp(0.1, rho=None)", (ValueError,)),
        ("RMSProp(0.1, rho=-1.0)", (ValueError,)),
        ("Lamb(0.1, lamb_weight_decay=None)", (AssertionError,)),
    ],
)
def test_settings_that_do_not_fit(expression: str, errors: tuple[type[Exception], ...]) -> None:
    with pytest.raises(GradtoolError) as caught:
        eval(f"optimizer.{expression}", {"optimizer": optimizer})
    assert isinstance(caught.value, errors)


def test_a_loss_must_be_a_variable_of_one_element() -> None:
    sgd = optimizer.SGD(0.1)
    for loss in (None, 3, "loss"):
        with pytest.raises(AssertionError, match="The loss should be a Variable"):
            sgd.minimize(loss)
    x = paddle.static.data("x", [4, 3])
    with pytest.raises(AssertionError, match="elements of loss should be 1"):
        sgd.minimize(paddle.static.nn.fc(x, 2))


def test_limits_and_coefficients() -> None:
    with pytest.raises(AssertionError, match="must be positive"):
        paddle.nn.ClipGradByValue(-1.0)
    assert vars(paddle.nn.ClipGradByValue(1.0, 0.5)) == {"max": 1.0, "min": 0.5}
    with pytest.raises(TypeError, match="coeff"):
        paddle.regularizer.L2Decay("a")


class Failing(paddle.nn.ClipGradByNorm):
    """Clips, then fails."""

    def __call__(self, params_grads: Any) -> Any:
        super().__call__(params_grads)
        raise RuntimeError("clipping failed")


def test_a_failure_changes_nothing() -> None:
    loss = network()
    main, startup = paddle.static.default_main_program(), paddle.static.default_startup_program()
    before = str(main), str(startup)
    with pytest.raises(RuntimeError, match="clipping failed"):
        optimizer.Adam(0.1, grad_clip=Failing(1.0)).minimize(loss)
    adamw = optimizer.AdamW(0.1, lr_ratio=lambda p: 1 / (p.name != "a.w_0"))
    with pytest.raises(ZeroDivisionError):
        adamw.minimize(loss)
    assert (str(main), str(startup)) == before
    verify(main)
    adamw._lr_ratio = None
    _, pairs = adamw.minimize(loss)
    assert [g.name for _, g in pairs] == ["a.w_0@GRAD", "a.b_0@GRAD"]
    assert [o.type for o in main_ops()[-2:]] == ["adamw", "adamw"]
    run([loss], startup=True, x=np.ones((4, 3), "float32"))


def test_functions_of_the_other_mode() -> None:
    sgd = optimizer.SGD(optimizer.lr.StepDecay(0.1, 2))
    for call in (lambda: sgd.set_lr(0.1), lambda: sgd.set_lr_scheduler(optimizer.lr.StepDecay(0.1, 2))):
        with pytest.raises(AssertionError, match="dynamic mode"):
            call()


# -- version 1 --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SGDOptimizer(0.1)", "SGD(0.1)"),
        ("SGD(learning_rate=0.1, regularization=L2Decay(0.2))", "SGD(0.1, weight_decay=0.2)"),
        ("MomentumOptimizer(0.1, 0.8, None, True)", "Momentum(0.1, 0.8, use_nesterov=True)"),
        ("AdamOptimizer(0.1, 0.8, 0.9, 1e-3)", "Adam(0.1, 0.8, 0.9, 1e-3)"),
        ("AdagradOptimizer(0.1, 1e-3)", "Adagrad(0.1, 1e-3)"),
        ("AdamaxOptimizer(0.1)", "Adamax(0.1)"),
        ("AdadeltaOptimizer(0.1, 1e-3, 0.9)", "Adadelta(0.1, 1e-3, 0.9)"),
        ("RMSPropOptimizer(0.1, 0.9, 1e-3, 0.5, True)", "RMSProp(0.1, 0.9, 1e-3, 0.5, True)"),
        ("LambOptimizer(0.1, 0.2)", "Lamb(0.1, 0.2)"),
        ("SGD(0.1, grad_clip=GradientClipByNorm(0.1))", "SGD(0.1, grad_clip=ClipGradByNorm(0.1))"),
    ],
)
def test_names_of_version_1(old: str, new: str) -> None:
    fluid = paddle.fluid
    names = {n: getattr(fluid.optimizer, n) for n in dir(fluid.optimizer)}
    names |= {n: getattr(m, n) for m in (fluid.regularizer, fluid.clip) for n in dir(m)}
    todays = {n: getattr(optimizer, n) for n in dir(optimizer)} | {"ClipGradByNorm": paddle.nn.ClipGradByNorm}
    texts = []
    for expression, classes in ((old, names), (new, todays)):
        main = paddle.static.Program()
        with paddle.utils.unique_name.guard(), paddle.static.program_guard(main, paddle.static.Program()):
            eval(expression, classes).minimize(network())
        texts.append(str(main))
    assert texts[0] == texts[1]


def test_arguments_of_version_1() -> None:
    adam = paddle.fluid.optimizer.AdamOptimizer
    loss = network()
    b = paddle.static.default_main_program().global_block().var("a.b_0")
    updates, _ = adam(parameter_list=[b]).minimize(loss)
    assert [o.input("Param") for o in updates] == [["a.b_0"]]
    updates, _ = adam().minimize(loss, parameter_list=["a.w_0"])
    assert [o.input("Param") for o in updates] == [["a.w_0"]]
    for arguments in ({"parameters": [b]}, {"beta3": 0.1}):
        with pytest.raises(TypeError, match="no argument"):
            adam(**arguments)
    with pytest.raises(TypeError, match="two values for 'learning_rate'"):
        adam(0.1, learning_rate=0.1)
    with pytest.raises(TypeError, match="up to 9 arguments"):
        adam(*range(12))
