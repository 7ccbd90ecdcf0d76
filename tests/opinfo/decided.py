"""Where Paddle documents or gives something else than PyTorch: the operators, what differs there, and why.

Each was seen in Paddle 3.3.1, too; ``python -m tests.opinfo --paddle PYTHON`` asks it again.
"""

from __future__ import annotations

import re
from functools import cache

LABEL = "targets, labels and weights have no gradient in Paddle"
TYPES = "another element type than PyTorch's: Paddle's promise"
FORMULA = "another formula in Paddle for such arguments"
ENDS = "infinite or not defined there: what either formula leaves"

DECIDED = {
    r"arange results\[0\] shape": "whole numbers count the steps, before PyTorch rounds the ends",
    r"as_strided.partial_views results\[0\]": "a tensor is contiguous here, a view of half of one in PyTorch's sample",
    r"cholesky_solve first\[1\]": "one triangle is read, and has the gradient",
    r"cholesky_inverse results\[0\]": "the imaginary parts of a factor's diagonal count in Paddle",
    r"clamp_(min|max) first\[1\]": "a bound is an attribute in Paddle, without a gradient",
    r"linalg.norm.subgradients_at_zero": ENDS,
    r"(nan)?quantile first\[1\]": "the share that is asked for has no gradient",
    r"nn.functional.(adaptive_)?max_pool[123]d results\[1\] dtype": "places are int32 in Paddle",
    r"nn.functional.(avg_pool[23]d|renorm|hinge_embedding_loss|multi_margin_loss|pad.circular) results": FORMULA,
    r"(renorm|addr|linalg.vander) results": FORMULA,
    r"nn.functional.conv[123]d results": "padding 'same' sets the dilation to 1 in Paddle",
    r"nn.functional.binary_cross_entropy(_with_logits)? first\[1\]": LABEL,
    r"nn.functional.cross_entropy first\[1\]": LABEL,
    r"nn.functional.cross_entropy results\[0\] (shape|values)": "soft labels keep the axis, weighed in Paddle's way",
    r"nn.functional.(kl_div first\[1\]|gaussian_nll_loss first\[2\])": LABEL,
    r"lerp first\[2\]": "the weight has no gradient in Paddle",
    r"diagonal_scatter first\[1\]": "what is put onto the diagonal has no gradient in Paddle",
    r"(diag_embed|linalg.vander) first: 0 results": "the operator has no gradient in Paddle",
    r"(nextafter|fill|div\.\w+|linalg.householder_product|linalg.matrix_power) first: 0 results": "constant here",
    r"nn.functional.(margin_ranking_loss|normalize) results\[0\] shape": "a number becomes a vector of one in Paddle",
    r"nn.functional.hardsigmoid results": "the slope is 0.1666667 in Paddle",
    r"squeeze.multiple results\[0\] shape": "no axes are all axes of one in Paddle",
    r"unique(_consecutive)? results\[1\] shape": "places are a vector in Paddle",
    r"nonzero results: 0 tensors": "a number has no axes; Paddle refuses it",
    r"histogram results\[1\]": "the ends are float32 in Paddle",
    r"logspace(\.tensor_overload)? results": "rounded powers of the base",
    r"linalg.pinv.hermitian (first|second)": "the lower triangle has the gradient of both",
    r"linalg.slogdet results\[1\] dtype": "both results are in one tensor in Paddle",
    (
        r"(trace|prod|sum_to_size|one_hot|nn.functional.one_hot|vdot|cumprod|copysign|atan2|rad2deg|deg2rad|addr|__rdiv__|"
        r"linalg.vander|reduce_as) results\[0\] dtype"
    ): TYPES,
}


@cache
def reason(operator: str, words: str) -> str:
    """Why this difference stays; empty where it does not."""
    return next((why for pattern, why in DECIDED.items() if re.match(pattern, f"{operator} {words}")), "")
