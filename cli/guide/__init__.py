"""Pages to read before a command: pages about errors, the cookbook's symptoms, the first words.

Nothing here loads a model or the engine.
"""
