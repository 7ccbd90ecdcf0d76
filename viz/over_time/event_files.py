"""A training as the event files of TensorBoard, a run beside the runs that people already look at.

A file holds no clock: the time of a step is its number, in seconds, so that the same training gives the same bytes.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gradtool.engine.answers.over_time.history import TrainingStep
from gradtool.engine.core.command_errors import PackageNeeded
from gradtool.engine.questions.over_time import Training

NAME: Final = "events.out.tfevents.0.gradtool"
"""TensorBoard reads the files of a folder that have the first words in their names."""


def event_file(answer: Training) -> bytes:
    """The bytes of an event file with a scalar for each number of each step.

    Raises:
        CommandError: tensorboardX is not installed.
    """
    try:
        from tensorboardX.proto.event_pb2 import Event
        from tensorboardX.proto.summary_pb2 import Summary
        from tensorboardX.record_writer import RecordWriter
    except ImportError:
        raise PackageNeeded("event files need tensorboardX", "pip install 'gradtool[tensorboard]'") from None
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, NAME)
        writer = RecordWriter(path)
        writer.write(Event(wall_time=0.0, file_version="brain.Event:2").SerializeToString())
        for i, step in enumerate(answer.history.steps):
            values = [Summary.Value(tag=tag, simple_value=value) for tag, value in scalars(answer, step, i)]
            event = Event(wall_time=float(step.number), step=step.number, summary=Summary(value=values))
            writer.write(event.SerializeToString())
        writer.close()
        return Path(path).read_bytes()


def scalars(answer: Training, step: TrainingStep, index: int) -> Iterator[tuple[str, float]]:
    """Tag and value of all that a step has; layers stand below what is told of them, as TensorBoard groups tags."""
    whole = {"training/loss": step.loss, "training/learning_rate": step.rate, "training/clipped": step.clip_factor}
    yield from ((tag, value) for tag, value in whole.items() if value is not None)
    for row in answer.rows:
        point = row.points[index]
        if point is None:
            continue
        g = point.gradient
        yield f"gradient_norm/{row.name}", math.nan if g.nonfinite else g.norm
        yield f"gradient_zeros/{row.name}", g.zeros / max(g.elements, 1)
        yield f"gradient_nonfinite/{row.name}", g.nonfinite
        if point.ratio is not None:
            yield f"update_ratio/{row.name}", point.ratio
