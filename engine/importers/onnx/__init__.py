"""ONNX files: read as programs (:mod:`.graph`), an operator a row of a table (:mod:`.operators`)."""

ENDING = ".onnx"
"""What the names of such files end with."""
