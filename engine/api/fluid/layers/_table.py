"""The table of layers; ``_rows.py`` says what a row means."""

from __future__ import annotations

from ._rows import Operation, Renamed

BINARY = "x:X y:Y axis=-1 act=None name=None"
UNARY = "x:X name=None"
COMPARISON = "x:X y:Y cond:>Out=None name=None"
ELEMENT_BY_ELEMENT = (
    "abs acos asin atan ceil cos cosh erf exp floor log logsigmoid reciprocal relu relu6 round rsqrt sigmoid sign sin "
    "sinh softplus softsign sqrt square swish tanh tanh_shrink"
)
LOGICAL = "x:X y:Y out:>Out=None name=None"

ROWS: dict[str, Operation | Renamed] = {
    # arithmetic
    **{
        f"elementwise_{n}": Operation(f"elementwise_{n}", BINARY, direct=True)
        for n in ("add", "sub", "mul", "div", "max", "min", "pow", "mod", "floordiv")
    },
    "mul": Operation("mul", "x:X y:Y x_num_col_dims=1 y_num_col_dims=1 name=None"),
    "scale": Operation("scale", "x:X scale=1.0 bias=0.0 bias_after_scale=True act=None name=None"),
    "sum": Operation("sum", "x:X"),
    "sums": Operation("sum", "input:X out:>Out=None"),
    # element by element
    **{n: Operation(n, UNARY) for n in ELEMENT_BY_ELEMENT.split()},
    "brelu": Operation("brelu", "x:X t_min=0.0 t_max=24.0 name=None"),
    "clip": Operation("clip", "x:X min max name=None"),
    "elu": Operation("elu", "x:X alpha=1.0 name=None"),
    "gelu": Operation("gelu", "x:X approximate=False"),
    "hard_sigmoid": Operation("hard_sigmoid", "x:X slope=0.2 offset=0.5 name=None"),
    "hard_swish": Operation("hard_swish", "x:X threshold=6.0 scale=6.0 offset=3.0 name=None"),
    "leaky_relu": Operation("leaky_relu", "x:X alpha=0.02 name=None"),
    "pow": Operation("pow", "x:X factor=1.0 name=None"),
    "softmax": Operation("softmax", "input:X use_cudnn:-=False name=None axis=-1"),
    "thresholded_relu": Operation("thresholded_relu", "x:X threshold=1.0"),
    # comparisons and logic
    **{n: Operation(n, COMPARISON) for n in ("equal", "not_equal", "less_equal", "greater_than", "greater_equal")},
    "less_than": Operation("less_than", "x:X y:Y force_cpu=None cond:>Out=None name=None"),
    **{f"logical_{n}": Operation(f"logical_{n}", LOGICAL) for n in ("and", "or", "xor")},
    "logical_not": Operation("logical_not", "x:X out:>Out=None name=None"),
    # shapes
    "concat": Operation("concat", "input:X axis=0 name=None"),
    "expand": Operation("tile", "x:X expand_times:repeat_times name=None", key="expand"),
    "squeeze": Operation("squeeze2", "input:X axes name=None"),
    "stack": Operation("stack", "x:X axis=0 name=None"),
    "transpose": Operation("transpose2", "x:X perm:axis name=None", key="transpose"),
    "unsqueeze": Operation("unsqueeze2", "input:X axes name=None"),
    "reverse": Renamed("flip", "x axis"),
    "shape": Renamed("shape", "input"),
    "slice": Renamed("slice", "input axes starts ends"),
    "split": Renamed("split", "input:x num_or_sections dim:axis=-1 name=None"),
    "unstack": Renamed("unstack", "x axis=0 num=None"),
    # picking and ordering
    "argmax": Operation("arg_max", "x:X axis=0"),
    "argmin": Operation("arg_min", "x:X axis=0"),
    "argsort": Operation("argsort", "input:X axis=-1 descending=False name=None", result=None),
    "gather": Operation("gather", "input:X index:Index overwrite:-=True"),
    "gather_nd": Operation("gather_nd", "input:X index:Index name=None"),
    "scatter": Operation("scatter", "input:X index:Ids updates:Updates name=None overwrite=True"),
    "topk": Operation("top_k_v2", "input:X k=1 name=None", key="top_k", result=None),
    # new tensors
    "assign": Renamed("assign", "input:x output=None"),
    "cast": Renamed("cast", "x dtype"),
    "linspace": Renamed("linspace", "start stop num dtype='float32'"),
    "ones": Renamed("ones", "shape dtype force_cpu:-=False"),
    "ones_like": Renamed("ones_like", "x"),
    "range": Renamed("arange", "start end step dtype"),
    "zeros": Renamed("zeros", "shape dtype force_cpu:-=False"),
    "zeros_like": Renamed("zeros_like", "x"),
    # losses
    "sigmoid_cross_entropy_with_logits": Operation(
        "sigmoid_cross_entropy_with_logits", "x:X label:Label ignore_index=-100 name=None normalize=False"
    ),
    "square_error_cost": Renamed("nn.functional.square_error_cost", "input label"),
}
