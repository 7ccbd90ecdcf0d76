"""What would change a verdict."""

from __future__ import annotations

from .verdicts import Verdict

ADVICE = {
    Verdict.DETACHED: "leave out the detach or the way through NumPy, or detach only a copy for logging",
    Verdict.NO_GRAD: "compute it outside no_grad()",
    Verdict.STOP_GRADIENT: "set stop_gradient=False where it is made",
    Verdict.NO_GRAD_SET: "take it out of the no_grad_set",
    Verdict.NOT_LISTED: "give it to the optimizer",
    Verdict.UNUSED: "use it in forward, or leave it out",
    Verdict.NO_PATH: "add what is computed from it to the loss",
    Verdict.NON_DIFFERENTIABLE: "use a smooth operator on the path, such as softmax in place of argmax",
    Verdict.INTEGER: "keep floating-point numbers on the path",
    Verdict.NOT_RETAINED: "call retain_grads() on it before backward",
    Verdict.DEAD_RELU: "a smaller learning rate, another initial bias, or leaky_relu",
    Verdict.SATURATED: "smaller weights or inputs, or a loss on logits",
    Verdict.CANCELLED: "look at the axis of the sum or the mean, or at the sign of one part",
    Verdict.VANISHED: "residual connections, normalisation, or another start of the weights (He, Glorot, orthogonal)",
    Verdict.EXPLODED: "clip gradients, normalise between layers, or start with smaller or orthogonal weights",
    Verdict.CLIPPED: "clip after the loss, or widen the limits",
}
