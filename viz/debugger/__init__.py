"""The notebook-style debugger: a run of forward and backward, walked through in both directions, edited and compared.

==============  =========================================================================================
timeline.py     a run as a list of entries over numbered values, each value made once
store.py        the values, within a budget of bytes
of_program.py   a timeline of a static program, from its plan
recorder.py     dynamic mode, written down from step events; firing.py says which of many passes
numbering.py    a number for every array of these events, and what is let go of between passes
ledger.py       the store that knows which array holds which value, and what is overwritten
retrace.py      the forward operators of a tape that nobody recorded, as far as it retains what they read
ahead.py        what a running backward pass is yet to do, laid out from the tape
of_tape.py      a timeline of what was written down
bound.py        kernels as data, so that a saved run can have them again; running.py runs a timeline once
branch.py       edits, and what follows from them: any value at any time, computed when it is asked for
session.py      branches, a cursor in each, and what stops it (stops.py)
notebook.py     numbered cells: verbs (verbs*.py) and Python (scope.py)
regions.py      branches and loops from inside, iteration by iteration
terminal.py     the prompt, with completion.py; batch.py runs scripts
saving.py       sessions as lines of JSON; loading.py reads them (lines.py, packed.py), replaying.py compares
from_python.py  ``gradtool.debug`` and ``gradtool.breakpoint``
==============  =========================================================================================
"""
