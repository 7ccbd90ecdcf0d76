"""Loading: from the address of a model to a run of its file, and to the model in it."""
