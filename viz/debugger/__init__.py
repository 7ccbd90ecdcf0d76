"""The notebook-style debugger: a run of forward and backward, walked through in both directions, edited and compared.

============  =====================================================================================================
timeline.py   a run as a list of entries over numbered values, each value made once
store.py      the values, within a budget of bytes
of_program.py a timeline of a static program, from its plan
recorder.py   a timeline of dynamic mode, written down from step events
branch.py     edits, and what follows from them: any value at any time, computed when it is asked for
============  =====================================================================================================
"""
