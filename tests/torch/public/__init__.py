"""Public models of PyTorch, built from code alone and trained for two steps: ``python -m tests.torch.public``."""
