"""Operators that no backend compiles, and why."""

HOST = {
    "bincount": "as many counts as the largest number says",
    "class_center_sample": "as many centres as classes in the batch, or more",
    "linspace": "as many numbers as an operand says",
    "logspace": "as many numbers as an operand says",
    "masked_select": "as many elements as the mask holds",
    "segment_pool": "as many segments as the last number says",
    "unique": "as many results as distinct elements",
    "unique_consecutive": "as many results as runs",
    "unmask": "its operand has as many elements as the mask holds",
}
"""By type: what the shapes of its results depend on, or what it does."""
