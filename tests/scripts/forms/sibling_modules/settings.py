CONFIG = {"seed": 3, "size": 5, "lr": 1e-3, "steps": 2}
