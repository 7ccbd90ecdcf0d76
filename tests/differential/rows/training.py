"""Optimizers, clips, regularizers and schedules of the learning rate."""

from __future__ import annotations

from ..drawing import OMIT, Draw, text
from ..table import row

OPTIMIZERS = {
    "SGD": {},
    "Momentum": {"momentum": 0.8, "use_nesterov": True},
    "Adagrad": {"epsilon": 1e-3, "initial_accumulator_value": 0.1},
    "Adadelta": {"rho": 0.8, "epsilon": 1e-3},
    "Adam": {"beta1": 0.8, "beta2": 0.9, "epsilon": 1e-3, "amsgrad": True},
    "AdamW": {"beta1": 0.8, "weight_decay": 0.1, "epsilon": 1e-3},
    "Adamax": {"beta1": 0.8, "beta2": 0.9},
    "RMSProp": {"rho": 0.8, "momentum": 0.5, "centered": True},
    "Lamb": {"lamb_weight_decay": 0.1, "beta1": 0.8},
}
SCHEDULES = {
    "CosineAnnealingDecay": "0.5, 4",
    "CosineAnnealingWarmRestarts": "0.5, 2",
    "CyclicLR": "0.1, 0.5, 2",
    "ExponentialDecay": "0.5, 0.7",
    "InverseTimeDecay": "0.5, 0.7",
    "LambdaDecay": "0.5, lambda e: 0.9**e",
    "LinearLR": "0.5, 4",
    "LinearWarmup": "0.5, 3, 0.0, 0.5",
    "MultiStepDecay": "0.5, [1, 3]",
    "MultiplicativeDecay": "0.5, lambda e: 0.9",
    "NaturalExpDecay": "0.5, 0.3",
    "NoamDecay": "4, 2",
    "OneCycleLR": "0.5, 6",
    "PiecewiseDecay": "[1, 3], [0.5, 0.2, 0.1]",
    "PolynomialDecay": "0.5, 4",
    "StepDecay": "0.5, 2",
}


def network(g: Draw) -> tuple[str, str]:
    """A layer, and the text of a loss of it."""
    x = g.tensor([g.of(1, 2, 3), 2], "float32", "plain", grad=g.chance(0.3))
    parts = (
        "paddle.nn.Linear(2, 3), paddle.nn.Tanh(), paddle.nn.Linear(3, 1)"
        if g.chance(0.5)
        else "paddle.nn.Linear(2, 2)"
    )
    module = g.line(f"l{len(g.lines)}", f"filled(paddle.nn.Sequential({parts}))")
    return (
        module,
        f"lambda: {g.of(f'{module}({x}).square().mean()', f'paddle.nn.functional.softplus({module}({x})).sum()')}",
    )


def clip(g: Draw) -> str:
    nn = "paddle.nn.ClipGradBy"
    return g.of(
        f"{nn}Norm({g.of(0.1, 1.0, 100.0)})", f"{nn}GlobalNorm({g.of(0.1, 5.0)})", f"{nn}Value({g.of(0.01, 1)})"
    )


def trained(g: Draw, module: str, loss: str, optimizer: str, schedule: str = "") -> str:
    later = f", schedule={schedule}" if schedule else ""
    return f"train({optimizer}, {loss}, {g.count(1, 4)}{later})"


@row(" ".join(OPTIMIZERS), within="optimizer", weight=3, chains=False)
def _(g: Draw, name: str) -> str:
    module, loss = network(g)
    named = {k: g.maybe(v, 0.4) for k, v in OPTIMIZERS[name.rpartition(".")[2]].items()}
    texts = [f"{k}={text(v)}" for k, v in named.items() if v is not OMIT]
    if "lamb" not in name.lower() and "AdamW" not in name and g.chance(0.3):
        texts.append(
            f"weight_decay={g.of('0.1', 'paddle.regularizer.L2Decay(0.1)', 'paddle.regularizer.L1Decay(0.1)')}"
        )
    if g.chance(0.3):
        texts.append(f"grad_clip={clip(g)}")
    if not g.static or g.chance(0.5):
        texts.append(f"parameters={module}.parameters()")
    return trained(g, module, loss, f"paddle.{name}({', '.join(['learning_rate=0.1', *texts])})")


@row(" ".join(SCHEDULES), within="optimizer.lr", modes="eager", chains=False)
def _(g: Draw, name: str) -> str:
    module, loss = network(g)
    schedule = g.line(f"s{len(g.lines)}", f"paddle.{name}({SCHEDULES[name.rpartition('.')[2]]})")
    optimizer = f"paddle.optimizer.SGD({schedule}, parameters={module}.parameters())"
    return trained(g, module, loss, optimizer, schedule)


@row("ReduceOnPlateau", within="optimizer.lr", modes="eager", weight=1, chains=False)
def _(g: Draw, name: str) -> str:
    schedule = g.line(f"s{len(g.lines)}", f"paddle.{name}(0.5, patience=1, factor=0.5)")
    losses = [g.number() for _ in range(4)]
    return f"[({schedule}.step(paddle.to_tensor(float(n))), {schedule}())[1] for n in {losses}]"


@row("L1Decay L2Decay", within="regularizer", weight=1, chains=False)
def _(g: Draw, name: str) -> str:
    x = g.tensor([2, 2], "float32", "plain")
    attr = f"paddle.ParamAttr(regularizer=paddle.{name}(0.3), learning_rate={g.of(1.0, 0.5)})"
    module = g.line(f"l{len(g.lines)}", f"filled(paddle.nn.Linear(2, 2, weight_attr={attr}))")
    optimizer = f"paddle.optimizer.SGD(0.1, parameters={module}.parameters(), weight_decay={g.of('None', '0.2')})"
    return trained(g, module, f"lambda: {module}({x}).mean()", optimizer)


@row("ClipGradByNorm ClipGradByGlobalNorm ClipGradByValue", within="nn", weight=1, chains=False)
def _(g: Draw, name: str) -> str:
    module, loss = network(g)
    bounds = f"{g.of(0.01, 1.0, 0.5)}"
    return trained(
        g,
        module,
        loss,
        f"paddle.optimizer.SGD(0.1, parameters={module}.parameters(), grad_clip=paddle.{name}({bounds}))",
    )


@row(
    "Constant Assign Normal Uniform TruncatedNormal XavierNormal XavierUniform KaimingNormal KaimingUniform Orthogonal",
    within="nn.initializer",
    weight=1,
)
def _(g: Draw, name: str) -> str:
    """Random ones tell shape and dtype only."""
    shape = [2, g.count(1, 3)]
    argument = {"Constant": "0.3", "Assign": f"np.arange({2 * shape[1]}.0).reshape({shape})"}.get(
        name.rpartition(".")[2], ""
    )
    dtype = g.of("float32", "float64")
    module = f"paddle.create_parameter({shape}, {dtype!r}, default_initializer=paddle.{name}({argument}))"
    return module if argument and not g.static else f"paddle.zeros_like({module})"


@row("Dirac Bilinear", within="nn.initializer", weight=1)
def _(g: Draw, name: str) -> str:
    shape = [g.of(1, 2), g.of(1, 2), g.of(2, 3), g.of(2, 3)]
    return f"paddle.create_parameter({shape}, 'float32', default_initializer=paddle.{name}()) * 1"


@row("calculate_gain", within="nn.initializer", weight=1, chains=False)
def _(g: Draw, name: str) -> str:
    return f"paddle.{name}({g.of('tanh', 'relu', 'leaky_relu', 'selu', 'sigmoid', 'conv1d')!r})"
