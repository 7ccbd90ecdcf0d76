"""Operators: conv."""
