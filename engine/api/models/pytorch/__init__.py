"""Programs of PyTorch: a recorder inside torch tells what they do, and a player writes it down as dynamic mode does.

The recorder (:mod:`.recorder`) is the only part that imports torch. What it tells (:mod:`.events`) goes straight to the
player (:mod:`.player`), or into a file (:mod:`.archive`) that is played where there is no torch.
"""

ENDING = ".torchrun"
"""What the names of files with recorded runs end with."""
