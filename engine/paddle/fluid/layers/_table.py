"""The table of layers; ``_rows.py`` says what a row means."""

from __future__ import annotations

from ._rows import OperatorLayer, RenamedLayer

BINARY = "x:X y:Y axis=-1 act=None name=None"
UNARY = "x:X name=None"
COMPARISON = "x:X y:Y cond:>Out=None name=None"
ELEMENT_BY_ELEMENT = (
    "abs acos asin atan ceil cos cosh erf exp floor log logsigmoid reciprocal relu relu6 round rsqrt sigmoid sign sin "
    "sinh softplus softsign sqrt square swish tanh tanh_shrink"
)
LOGICAL = "x:X y:Y out:>Out=None name=None"

ROWS: dict[str, OperatorLayer | RenamedLayer] = {
    # arithmetic
    **{
        f"elementwise_{n}": OperatorLayer(f"elementwise_{n}", BINARY, direct=True)
        for n in ("add", "sub", "mul", "div", "max", "min", "pow", "mod", "floordiv")
    },
    "mul": OperatorLayer("mul", "x:X y:Y x_num_col_dims=1 y_num_col_dims=1 name=None"),
    "scale": OperatorLayer("scale", "x:X scale=1.0 bias=0.0 bias_after_scale=True act=None name=None"),
    "sum": OperatorLayer("sum", "x:X"),
    "sums": OperatorLayer("sum", "input:X out:>Out=None"),
    # element by element
    **{n: OperatorLayer(n, UNARY) for n in ELEMENT_BY_ELEMENT.split()},
    "brelu": OperatorLayer("brelu", "x:X t_min=0.0 t_max=24.0 name=None"),
    "clip": OperatorLayer("clip", "x:X min max name=None"),
    "elu": OperatorLayer("elu", "x:X alpha=1.0 name=None"),
    "gelu": OperatorLayer("gelu", "x:X approximate=False"),
    "hard_sigmoid": OperatorLayer("hard_sigmoid", "x:X slope=0.2 offset=0.5 name=None"),
    "hard_swish": OperatorLayer("hard_swish", "x:X threshold=6.0 scale=6.0 offset=3.0 name=None"),
    "leaky_relu": OperatorLayer("leaky_relu", "x:X alpha=0.02 name=None"),
    "pow": OperatorLayer("pow", "x:X factor=1.0 name=None"),
    "softmax": OperatorLayer("softmax", "input:X use_cudnn:-=False name=None axis=-1"),
    "thresholded_relu": OperatorLayer("thresholded_relu", "x:X threshold=1.0"),
    # comparisons and logic
    **{n: OperatorLayer(n, COMPARISON) for n in ("equal", "not_equal", "less_equal", "greater_than", "greater_equal")},
    "less_than": OperatorLayer("less_than", "x:X y:Y force_cpu=None cond:>Out=None name=None"),
    **{f"logical_{n}": OperatorLayer(f"logical_{n}", LOGICAL) for n in ("and", "or", "xor")},
    "logical_not": OperatorLayer("logical_not", "x:X out:>Out=None name=None"),
    # shapes
    "concat": OperatorLayer("concat", "input:X axis=0 name=None"),
    "expand": OperatorLayer("tile", "x:X expand_times:repeat_times name=None", key="expand"),
    "squeeze": OperatorLayer("squeeze2", "input:X axes name=None"),
    "stack": OperatorLayer("stack", "x:X axis=0 name=None"),
    "transpose": OperatorLayer("transpose2", "x:X perm:axis name=None", key="transpose"),
    "unsqueeze": OperatorLayer("unsqueeze2", "input:X axes name=None"),
    "reverse": RenamedLayer("flip", "x axis"),
    "shape": RenamedLayer("shape", "input"),
    "slice": RenamedLayer("slice", "input axes starts ends"),
    "split": RenamedLayer("split", "input:x num_or_sections dim:axis=-1 name=None"),
    "unstack": RenamedLayer("unstack", "x axis=0 num=None"),
    # picking and ordering
    "argmax": OperatorLayer("arg_max", "x:X axis=0"),
    "argmin": OperatorLayer("arg_min", "x:X axis=0"),
    "argsort": OperatorLayer("argsort", "input:X axis=-1 descending=False name=None", result=None),
    "gather": OperatorLayer("gather", "input:X index:Index overwrite:-=True"),
    "gather_nd": OperatorLayer("gather_nd", "input:X index:Index name=None"),
    "scatter": OperatorLayer("scatter", "input:X index:Ids updates:Updates name=None overwrite=True"),
    "topk": OperatorLayer("top_k_v2", "input:X k=1 name=None", key="top_k", result=None),
    # new tensors
    "assign": RenamedLayer("assign", "input:x output=None"),
    "cast": RenamedLayer("cast", "x dtype"),
    "linspace": RenamedLayer("linspace", "start stop num dtype='float32'"),
    "ones": RenamedLayer("ones", "shape dtype force_cpu:-=False"),
    "ones_like": RenamedLayer("ones_like", "x"),
    "range": RenamedLayer("arange", "start end step dtype"),
    "zeros": RenamedLayer("zeros", "shape dtype force_cpu:-=False"),
    "zeros_like": RenamedLayer("zeros_like", "x"),
    # losses
    "sigmoid_cross_entropy_with_logits": OperatorLayer(
        "sigmoid_cross_entropy_with_logits", "x:X label:Label ignore_index=-100 name=None normalize=False"
    ),
    "square_error_cost": RenamedLayer("nn.functional.square_error_cost", "input label"),
}
