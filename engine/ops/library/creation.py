"""Operators: creation."""
