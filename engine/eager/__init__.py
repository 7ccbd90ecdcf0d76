"""Dynamic mode: tensors that compute at once, the tape behind them, and backward through it.

==============  ==============================================================================
module          what lives there
==============  ==============================================================================
``mode``        whether operators are recorded: ``no_grad``, ``enable_grad``, …
``tensor``      ``Tensor``: an array, its place on the tape, its gradient
``tape``        ``GradNode``: one recorded operator call
``recipe``      per operator, the two functions that record a call and differentiate it
``recorded_calls``    what the tape knows of recorded calls: what they read and made, their leaves
``record``      ``apply``: compute and record; every operator as a function of tensors
``grad_fn``     a look at the recorded graph from a tensor
``backward``    the sweep over recorded nodes: ``backward`` and ``grad``
==============  ==============================================================================
"""
