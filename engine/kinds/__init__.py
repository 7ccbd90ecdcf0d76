"""Kinds of models: static programs and tapes of dynamic mode, asked in the same words."""
