"""Two graphs side by side: what was added, removed, moved, rewired or given other attributes, and what follows from it.

=================  =====================================================================================
outline.py         a graph as plain data: operators in order, what they read, leaves and their gradients
golden.py          an outline as text that people review and files keep; stored.py as JSON that dumps hold
of_tape.py         the outline of a recorded graph; of_timeline.py that of a run
reduced.py         what two outlines tell where one is of a graph that was recorded alone
alignment.py       which entries of two sequences belong together
matching.py        which operators and leaves of two outlines belong together
structure.py       the differences, causes apart from what follows from them
=================  =====================================================================================
"""
