"""A run as a pure function over numbered values, in both modes: the one form in which runs are written down.

==============  =========================================================================================
timeline.py     a run as a list of entries over numbered values, each value made once
store.py        the values, within a budget of bytes
branch.py       edits, and what follows from them: any value at any time, computed when it is asked for
of_program.py   a timeline of a static program, from its plan
of_steps.py     a timeline of a static program, from the steps of a run, branches and loops unrolled
rounds.py       the runs of blocks: the steps of each, with those of the blocks inside
recorder.py     dynamic mode, written down from step events
calls.py        what was written down; numbering.py gives every array of these events a number
ledger.py       the store that knows which array holds which value, and what is overwritten
overwriting.py  what an array holds after another one in its storage was written
repeating.py    what of a run does not give again what was recorded
retrace.py      the forward operators of a tape that nobody recorded, as far as it retains what they read
ahead.py        what a running backward pass is yet to do, laid out from the tape
of_tape.py      a timeline of what was written down; places.py: the value at each place
                of the tape, tape_names.py: what everything is called
bound.py        kernels as data, so that a saved run can have them again; again.py binds those of dynamic mode
first_run.py    runs a timeline from its beginning, once
==============  =========================================================================================
"""
