"""Sessions in files: lines of JSON that hold the run itself, so that they go on without the model.

==============  =========================================================================================
writer.py       a session as lines; packed.py holds arrays in them, lines.py what every line is
reader.py       a session from lines, kernels bound anew
expressions.py  what in a session is evaluated
comparison.py   the cells again, compared with what they gave
==============  =========================================================================================
"""
