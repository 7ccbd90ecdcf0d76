"""Faults put into right programs, and how many the bare command and the gate name with cause and line."""
