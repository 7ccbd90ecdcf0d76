"""The neutral picture of a graph (``graph``), made of a program or of a tape, and the layers of operators."""
