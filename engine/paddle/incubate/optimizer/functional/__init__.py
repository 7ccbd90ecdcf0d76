"""``paddle.incubate.optimizer.functional``: the minimum of a function of one tensor."""

from __future__ import annotations

from ._quasi_newton import minimize_bfgs, minimize_lbfgs

__all__ = ["minimize_bfgs", "minimize_lbfgs"]
