"""Questions about a run, answered from its step events: static programs and dynamic mode alike.

==============  ==============================================================================================
module          what lives there
==============  ==============================================================================================
``events``      step events of both modes in one form: operator, line, named inputs and outputs
``magnitudes``  what is wrong with the numbers in an array; sums over its elements
``nan``         where the first NaN, infinity, overflow or subnormal number of a run was born
``causes``      why an operator gave it: a table of operators and predicates on what they read
``gradcheck``   gradients compared with differences; ``checking``: of what; ``kinks``: where there is no derivative
``replay``      a forward pass computed again in double precision at other values
``stats``       sizes of gradients, and how they change with depth
``saved``       what backward keeps alive
``profile``     what operators take
``asking``      the questions as public functions
``running``     backward passes under watch: of a program, of a recorded loss, of a function
==============  ==============================================================================================

Nothing here prints, and the engine below knows nothing of it: it only tells a watcher what it does (``watch.py``).
"""
