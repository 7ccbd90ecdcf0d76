"""The engine of gradtool.

Layers, lowest first (a layer imports only from those above it in this list):

==============  ====================================================================================
module          what lives there
==============  ====================================================================================
``core``        what everything stands on: errors, specs, names, places in the source, settings, events
``files``       binary files, JSON read strictly, files written whole or not at all
``ops``         one definition per operator, gradient operators derived from it
``kernels``     backends: the array module kernels run on, and overrides that pay
``ir``          ``Program``, ``Block``, ``Operator``, ``Variable``: what the user reads
``autodiff``    ``append_backward`` and ``gradients``
``executor``    ``Plan`` and ``Executor``: what runs
``eager``       dynamic tensors, their tape, and backward through it
``view``        the neutral picture of a graph that renderers draw, of a program or a tape
``runs``        a run, written down: a pure function over numbered values, with edits
``answers``     questions about a run; ``why`` answers why a gradient is missing
==============  ====================================================================================
"""
