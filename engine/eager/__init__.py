"""Dynamic mode: tensors that compute at once, the tape behind them, and backward through it.

==============  ==============================================================================
module          what lives there
==============  ==============================================================================
``mode``        whether operators are recorded: ``no_grad``, ``enable_grad``, …
``tensor``      ``Tensor``: an array, its place on the tape, its gradient
``tape``        ``GradNode``: one recorded operator call; ``apply``: compute and record
``backward``    the sweep over recorded nodes: ``backward`` and ``grad``
==============  ==============================================================================
"""
