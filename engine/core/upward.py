"""Table of all places where a lower layer needs a higher one, which it may not import.

Programs, tensors and answers have methods that files above them implement; after a bare ``import gradtool`` nothing of
that is loaded. What is asked for is looked up here by what it is, not by where it stands, when it is first needed. A
test holds that no other module of the engine reaches upwards.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

PARTS: Final = {
    "operators of tensors": "gradtool.engine.eager.record",  # arithmetic of tensors is recorded
    "backward passes": "gradtool.engine.eager.calls",  # Tensor.backward
    "texts of programs": "gradtool.engine.ir.text",  # programs, operators and variables print themselves
    "edits of programs": "gradtool.engine.ir.edit",  # operators put in and taken out, variables renamed
    "descriptions of parts": "gradtool.engine.ir.desc",  # Block.desc, Operator.desc
    "program parser": "gradtool.engine.ir.parse",  # Program.parse_from_string
    "copies of programs": "gradtool.engine.ir.clone",  # Program.clone
    "programs to JSON": "gradtool.engine.ir.to_json",  # Program.to_json
    "programs from JSON": "gradtool.engine.ir.from_json",  # Program.from_json
    "Paddle's descriptions": "gradtool.engine.ir.paddle.to_desc",  # Program.to_desc
    "backends": "gradtool.engine.kernels.choice",  # samples run while gradient operators are derived
    "values": "gradtool.engine.executor.values",  # Parameter.get_value, Program.state_dict
    "nested objects": "gradtool.paddle._nested",  # a program is put into the container of binary files
    "regularizers": "gradtool.paddle.regularizer",  # a saved parameter gets its own again
    "pictures": "gradtool.viz",  # programs show themselves
    "results": "gradtool.viz.results",  # answers show and save themselves
    "sessions": "gradtool.viz.debugger.saved.reader",  # a saved session of the debugger is a side of a comparison
    "questions": "gradtool.engine.questions",  # a model is asked by its methods
    "sweeps": "gradtool.engine.sweeps.at_points",  # so is the question at many points
    "recorded runs": "gradtool.engine.recorders.recorded.archive",  # one among the files that importers read
    "running frameworks": "gradtool.engine.recorders.live",  # a loss may be a tensor of one of these
    "dumps": "gradtool.viz.dump",  # backward(dump_backward_graph_path=...)
}
"""What is needed -> the module that has it."""


def part(name: str) -> Any:
    """The module that has *name*, one of :data:`PARTS`."""
    return importlib.import_module(PARTS[name])
