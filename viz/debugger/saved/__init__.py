"""Sessions in files: lines of JSON that hold the run itself, so that they go on without the model.

==============  =========================================================================================
saving.py       a session as lines; packed.py holds arrays in them, lines.py what every line is
loading.py      a session from lines, kernels bound anew
expressions.py  what in a session is evaluated
replaying.py    the cells again, compared with what they gave
==============  =========================================================================================
"""
