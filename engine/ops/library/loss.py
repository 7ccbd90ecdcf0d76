"""Operators: loss."""
