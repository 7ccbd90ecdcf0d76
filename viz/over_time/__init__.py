"""Trainings drawn and written for other programs: a heat map, a table of one row for each number, event files."""
