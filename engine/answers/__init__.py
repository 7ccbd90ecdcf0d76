"""Questions about a run, answered from its step events: static programs and dynamic mode alike.

==============  ==============================================================================================
module          what lives there
==============  ==============================================================================================
``events``      step events of both modes in one form: operator, line, inputs and outputs, branch and iteration
``magnitudes``  what is wrong with the numbers in an array
``nan``         where the first NaN, infinity, overflow or subnormal number of a run was born
``causes``      why operators give it: a table of operators and predicates on what they read
``explaining``  the line of that table that holds
``coverage``    what a search did not see: operators that were not run, branches that were not taken
``gradcheck``   gradients compared with differences; ``checking``: of what; ``kinks``: where there is no derivative
``double_precision``      a written-down run (``engine/runs``) computed again in double precision at other values
``stats``       sizes of gradients, and how they change with depth
``depth``       which weights are used one behind another
``saved``       what backward keeps alive
``profile``     what operators take
``flow``        what depends on what, found by changing values
``python_questions``      the questions as public functions
``tape_pass``   a backward pass over a recorded loss, under watch
``program_run`` a run of a static program, under watch
``model_run``   a run of a function, a loss or a program, under watch
==============  ==============================================================================================

Nothing here prints, and the engine below knows nothing of it: it only tells a watcher what it does (``watch.py``).
"""
