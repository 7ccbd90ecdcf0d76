"""Programs of PyTorch: scripts with a mistake each, right ones, and what torch did when they ran (``runs/``)."""
