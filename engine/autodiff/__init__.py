"""``append_backward`` and ``gradients``: building the backward part of a program."""
