"""The definitions themselves, one file per family."""
