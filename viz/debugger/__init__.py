"""The notebook-style debugger: a run of forward and backward, walked through in both directions, edited and compared.

==============  =========================================================================================
run/            a run as a pure function over numbered values, recorded or laid out; branches with edits
session.py      branches, a cursor in each, and what stops it (stops.py, halt.py)
verbs/          the table of verbs
notebook.py     numbered cells: verbs and Python (scope.py)
show.py         what is printed of operators and values; ways.py, regions.py: ways to the loss, blocks from inside
terminal.py     the prompt, with completion.py; batch.py runs scripts
saved/          sessions as files, and their replay
from_python.py  ``gradtool.debug`` and ``gradtool.breakpoint``
==============  =========================================================================================
"""
