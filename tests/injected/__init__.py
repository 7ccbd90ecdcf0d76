"""Faults put into right programs, and how many the bare command and the gate name with cause and line.

A case counts where the changed program runs to its end and trains otherwise than the right one. It is *named* by a
finding that

- has a code of the cause: :attr:`.kinds.Kind.accepts` lists the codes that are about such a fault, not those of its
  consequences;
- names the line of the fault, as its own line or in its words; of a call that is missing, the line of a call that it
  belongs to;
- says the cause in words where one code has several (``says``): a use "detached" by the line is no use "computed under
  no_grad".

Notes do not count, with one exception: GT112, about a use of a value that gives no gradient next to uses that do, names
a partial cut. Many cut one use on purpose, and no more than a note can be said. Where the fault leaves a parameter
untrained, the note says too little and does not count either.

GT704 (the first loss) names a factor of 1e30 only at the line of the factor and with a number that large.
"""
