"""Information flow: which inputs an output depends on, found by changing them, and where the dependence comes about.

==============  =========================================================================================
spread.py       what a changed value changes in a recorded run, operator by operator
probe.py        a function of tensors that is computed as often as somebody asks: a layer's call
perturb.py      other values for an input, of its own kind
fact.py         what is found
samples.py      samples of a batch that influence each other
order.py        outputs of a sequence that depend on inputs after them
inputs.py       inputs, features and padding: without influence, or with one that they should not have
randomness.py   random numbers in evaluation mode
labels.py       labels that reach the prediction
swapped_axes.py reshapes that stand where axes are to change places
==============  =========================================================================================

A change is made and the function is computed again: what differs then depends on what was changed, whatever
gradients say. The place is found in a recording of one call, by following the changed elements from operator to
operator.
"""
