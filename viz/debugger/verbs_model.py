"""Verbs that ask the commands' engines about the model."""
