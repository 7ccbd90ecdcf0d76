"""Gradients over the steps of a training: a few numbers for each parameter and step, while a script runs as it is.

``history.py`` says what is kept, ``course.py`` what a step is, ``of_tape.py`` and ``of_programs.py`` listen to the two
modes, ``happenings.py`` reads off what began at one step.
"""
