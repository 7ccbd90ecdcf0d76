"""Programs as the user reads and edits them: ``Program``, ``Block``, ``Operator``, ``Variable``."""
