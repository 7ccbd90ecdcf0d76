"""Requests: which model, how its file is run, and the options of questions."""
