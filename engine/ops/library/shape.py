"""Operators: shape."""
