"""The engine of gradtool.

Layers, lowest first (a layer imports only from those above it in this list):

==============  ====================================================================================
module          what lives there
==============  ====================================================================================
``errors``      every exception that gradtool raises
``spec``        data types and tensor specs (shape and dtype)
``names``       ``@GRAD``, ``@RENAME`` and unique names: the only file that knows suffixes
``source``      where in the user's program something was made
``state``       mode, name scopes and seeds of this process
``sweep``       the one reverse sweep behind every gradient
``view``        the neutral picture of a graph that renderers draw
``ops``         one definition per operator, gradient operators derived from it
``kernels``     backends: the array module kernels run on, and overrides that pay
``ir``          ``Program``, ``Block``, ``Operator``, ``Variable``: what the user reads
``autodiff``    ``append_backward`` and ``gradients``
``executor``    ``Plan`` and ``Executor``: what runs
``eager``       dynamic tensors, their tape, and backward through it
==============  ====================================================================================
"""
