"""PyTorch in the process of the tests: losses of a running program, real kernels, real runs of pytest."""
