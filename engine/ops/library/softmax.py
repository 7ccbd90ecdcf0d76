"""Softmax and the cross entropy computed with it."""
