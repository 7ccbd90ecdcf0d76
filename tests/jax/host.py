"""Operators that no backend compiles, and why."""

HOST = {
    "bincount": "as many counts as the largest number says",
    "binomial": "it is drawn from until something holds: how often depends on values",
    "class_center_sample": "as many centres as classes in the batch, or more",
    "dirichlet": "it is drawn from until something holds: how often depends on values",
    "distribute_fpn_proposals": "as many regions on each level as are of its size",
    "generate_proposals_v2": "as many regions as are not suppressed",
    "linspace": "as many numbers as an operand says",
    "logspace": "as many numbers as an operand says",
    "masked_select": "as many elements as the mask holds",
    "matrix_nms": "as many boxes as reach the threshold",
    "multiclass_nms3": "as many boxes as are not suppressed",
    "nms": "as many boxes as are not suppressed",
    "poisson": "it is drawn from until something holds: how often depends on values",
    "segment_pool": "as many segments as the last number says",
    "standard_gamma": "it is drawn from until something holds: how often depends on values",
    "unique": "as many results as distinct elements",
    "unique_consecutive": "as many results as runs",
    "viterbi_decode": "paths are as long as the longest sequence",
    "where_index": "as many rows as elements that are not zero",
    "yolov3_loss": "which cell of the grid is to find a box is settled box by box",
}
"""By type: what the shapes of its results depend on, or what it does."""

SOMETIMES = {
    "index_put": "an index may be a mask, which says how many elements are written",
}
"""By type: why it is compiled only in some cases; of the others a plan finds out while it is traced."""
