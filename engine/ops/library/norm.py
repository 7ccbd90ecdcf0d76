"""Operators: norm."""
