"""Base of all other layers; it knows nothing of operators.

==============  ====================================================================================
errors.py       every exception that gradtool raises
spec.py         data types and tensor specs (shape and dtype)
names.py        ``@GRAD``, ``@RENAME`` and unique names: the only file that knows suffixes
source.py       where in the user's program something was made
state.py        mode, name scopes and seeds of this process
keys.py         what attributes are remembered by
value.py        what a value is to whoever asks for its type and shape only
rows.py         selected rows of a table
sweep.py        the reverse sweep over operators that stand in order
functions.py    the user's own functions that programs call, by number
watch.py        who is told what happens: steps, and what becomes of tensors
collector.py    the garbage collector, paused
records.py      ``dataclass``, made faster than the standard library does
result.py       what answers have in common: they show and save themselves
==============  ====================================================================================
"""
