"""Recorders inside PyTorch and real Paddle, and the player that writes down what they heard."""
