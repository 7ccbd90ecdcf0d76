"""First steps of a training.

================  =======================================================================================
first_loss.py     the first loss of a classifier beside what one that knows nothing has, and what makes it
updates.py        updates that change nothing, and frozen parameters that change all the same
saturation.py     units that are nearly all flat
one_batch.py      whether the batch of a recorded pass can be learned, with a copy of the parameters
================  =======================================================================================
"""
