"""Where our operators differ from what was recorded, and why: by type, or by one call of it."""

from __future__ import annotations

from collections.abc import Mapping

DRAWN = "it is drawn at random, by other generators"
MEMORY = "Paddle gives what was in memory"
MASTER = "Paddle takes the master copy only beside parameters of 16 bits, ours wherever it is given"
FACTOR = "eigenvectors are determined up to a factor, and eigenvalues come in another order"
FRONT = "as an appended operator Paddle's counts the axis from the front only; its function gives what ours does"
ROWS = "Paddle's operator reads beyond an operand that has to be repeated; its function repeats it first"
LATER = "ours is what 3.3.1 computes"
LAYOUT = "Paddle's operator knows NHWC only, where volumes are NDHWC; its function says so"
WITHOUT = "Paddle's gradient without a weight is not that of its result, as differences show"
TWICE = "several are written to one place: the gradient goes to the one that is seen there, in Paddle to all of them"
SHAPED = "Paddle's gradient has the shape of the result, not of the operand"
EMPTY = "Paddle's gradient operator for the CPU leaves zeros in a program; in dynamic mode it gives what ours does"
WRONG = "Paddle's gradient is not the derivative of its result, as differences show"
OVERWRITES = "two true boxes in one cell: Paddle's gradient forgets the first, its loss counts both"
MISSING = "Paddle's operator has no gradient in a program, though its function has"
FROM_OPERANDS = (
    "the rule computes again from operands what Paddle's reads from a result, or reads fewer or other operands"
)
ABSENT = "a gradient that does not arrive is absent, where Paddle fills in zeros"
LEFT = "Paddle leaves the type, or the shape, that the variable was made with; ours is what comes"
KNOWN = "ours knows the number of rows before it runs"


def _each(types: str) -> list[str]:
    return types.split()


OUTPUTS: dict[str, str] = {
    **dict.fromkeys(
        _each(
            "bernoulli class_center_sample/1 dirichlet dropout/0 dropout/1 exponential gaussian_inplace "
            "gaussian_random gumbel_softmax multinomial poisson randint randperm seed standard_gamma "
            "truncated_gaussian_random uniform_random uniform_random_batch_size_like uniform_random_inplace"
        ),
        DRAWN,
    ),
    **dict.fromkeys(["adadelta", "adagrad/1", "adamax", "lamb/1", "sgd/1"], MASTER),
    "eig/0": FACTOR,
    "eigvals/0": FACTOR,
    "empty": MEMORY,
    **dict.fromkeys(["gammaincc/1", "take_along_axis/1"], ROWS),
    **dict.fromkeys(["lstsq/1", "mean/1", "radam/0", "reduce_amax/0", "reduce_amin/0"], LATER),
    "split/1": FRONT,
    "trilinear_interp_v2/0": LAYOUT,
}
GRADIENTS: dict[str, str] = {
    "deformable_conv": EMPTY,
    "deformable_conv_v1": EMPTY,
    "dropout": DRAWN,
    "eig/1": FACTOR,
    "gumbel_softmax/0": DRAWN,
    **dict.fromkeys(["gammaincc/1", "take_along_axis/1"], ROWS),
    "graph_send_uv/1": WRONG,
    "group_norm/1": WITHOUT,
    **dict.fromkeys(["index_put/1", "put_along_axis", "scatter/1"], TWICE),
    "lu_solve/1": WRONG,
    "masked_fill": SHAPED,
    **dict.fromkeys(["reduce_amax/0", "reduce_amin/0"], LATER),
    "shuffle_channel": WRONG,
    "spectral_norm": WRONG,
    "trilinear_interp_v2/0": LAYOUT,
    "yolov3_loss": OVERWRITES,
}
OPERATORS: dict[str, str] = {
    **dict.fromkeys(["clip_by_norm", "eigvals", "lstsq"], MISSING),
    **dict.fromkeys(
        _each(
            "bilinear_tensor_product copysign determinant eigvalsh fft_c2r fill_diagonal_tensor lerp lu "
            "lu_unpack qr unpool unpool3d "
            "warpctc warprnnt "
        ),
        FROM_OPERANDS,
    ),
    **dict.fromkeys(["eig", "eigh", "svd"], ABSENT),
    "increment": "the gradient passes as it is, where Paddle's would be incremented",
}
SPECS: dict[str, str] = {
    **dict.fromkeys(
        _each(
            "accuracy auc bipartite_match ctc_align edit_distance equal_all generate_proposals_v2 "
            "hierarchical_sigmoid lamb/1 linspace/0 lstsq/1 matrix_rank matrix_rank_atol_rtol mean/1 randint/1 "
            "reduce_amax/0 reduce_amin/0 seed unique viterbi_decode yolov3_loss"
        ),
        LEFT,
    ),
    **dict.fromkeys(["distribute_fpn_proposals", "graph_send_recv", "graph_send_ue_recv", "multiclass_nms3"], KNOWN),
    "trilinear_interp_v2/0": LAYOUT,
}
TABLES = (OUTPUTS, GRADIENTS, OPERATORS, SPECS)

UNREAD = "sizes as tensors, or values as one, are not taken yet"
SLOTS: dict[str, str] = {
    **dict.fromkeys(["assign_value", "crop", "crop_tensor", "expand"], UNREAD),
    "conv3d_transpose": "ours takes a bias, as those of images do",
}
"""Types some of whose slots we have not, or have beside Paddle's -> why."""

TO_COME = ""
"""The types that are not here yet, in the order of their names."""


def reason(table: Mapping[str, str], label: str) -> str | None:
    """Why that call differs; None where it does not."""
    return table.get(label, table.get(label.partition("/")[0]))
