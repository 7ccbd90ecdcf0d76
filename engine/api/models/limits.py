"""How long a script is watched; apart, so that ``--help`` can say it without loading anything."""

ENOUGH = 50
"""Backward passes that a script is watched for if nobody says how many."""

ALL = 1 << 62
"""More backward passes than there can be."""
