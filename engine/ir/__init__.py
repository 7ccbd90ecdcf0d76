"""What the user reads and edits: ``Program``, ``Block``, ``Operator``, ``Variable``."""
