"""What the user reads and edits: ``Program``, ``Block``, ``Operator``, ``Variable`` (paddle.md 1)."""
