"""Faults put into right programs, one at a time, and how many of them the bare command and the gate name with their line."""
