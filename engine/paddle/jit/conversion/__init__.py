"""Functions whose branches and loops may ask tensors, rewritten so that a program holds every way."""
