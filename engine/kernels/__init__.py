"""Backends: the array module that kernels run on, and overrides that pay."""
