"""How long a script is watched, and what of it is asked about; apart, so that nothing is loaded to say it."""

ENOUGH = 50
"""Backward passes that a script is watched for if nobody says how many."""

ALL = 1 << 62
"""More backward passes than there can be."""

EACH = "each"
"""What ``--backward`` says for every distinct backward pass."""
