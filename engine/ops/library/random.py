"""Operators: random."""
