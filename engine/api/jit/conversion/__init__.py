"""Python functions whose branches and loops may ask tensors: the same functions, written so that programs hold both ways."""
