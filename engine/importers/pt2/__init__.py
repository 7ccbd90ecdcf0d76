"""Archives of ``torch.export``: read as programs (:mod:`.graph`), an operator a row of a table (:mod:`.operators`)."""

ENDING = ".pt2"
"""What the names of such files end with."""
