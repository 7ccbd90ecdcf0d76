"""Operators: indexing."""
