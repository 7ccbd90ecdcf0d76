"""Endings of the names of files with recorded runs."""

TORCH = ".torchrun"
PADDLE = ".paddlerun"
ENDINGS = (TORCH, PADDLE)
