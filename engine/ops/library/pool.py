"""Operators: pool."""
