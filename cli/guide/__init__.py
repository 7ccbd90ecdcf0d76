"""What people read before they know a command: pages about errors, the cookbook's symptoms, the first words.

Nothing here loads a model or the engine.
"""
