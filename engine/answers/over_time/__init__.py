"""Gradients over the steps of a training: a few numbers for each parameter and step, while a script runs as it is.

``history.py`` defines what is kept and ``training_steps.py`` a step. ``of_tape.py`` and ``of_programs.py`` listen to
the two modes. ``step_events.py`` finds what began at one step.
"""
