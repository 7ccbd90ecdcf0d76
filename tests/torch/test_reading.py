"""Which files are torch's, what is said where torch is not there, and what becomes of damaged runs."""

import importlib.util
import io
import json
import random

import numpy as np
import pytest

from gradtool.engine.core.command_errors import CommandError
from gradtool.engine.core.errors import FileFormatError, GradtoolError
from gradtool.engine.files import container
from gradtool.engine.kinds import run_notes
from gradtool.engine.loading import loader
from gradtool.engine.loading.opening import open_model
from gradtool.engine.questions.why import Why
from gradtool.engine.recorders.pytorch.running import is_torchs
from gradtool.engine.request.request import Request

from .answers import CORPUS, RUNS


@pytest.mark.parametrize(
    ("text", "torchs"),
    [
        (b"import torch", True),
        (b"from torch.nn import functional as F", True),
        (b"def f():\n    import torch as t", True),
        (b"import paddle\nimport torch", False),
        (b"import torchvision", False),
        (b"# import torch", False),
        (b"from .torch import x", False),
        (b"import torch (", False),
    ],
)
def test_what_a_file_imports_says_whose_it_is(text, torchs):
    assert is_torchs(text) is torchs


def test_without_torch_the_message_says_what_to_install(monkeypatch):
    usual = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "torch" else usual(name, *rest)
    )
    with pytest.raises(CommandError, match="torch is not installed") as raised:
        Why().ask(Request(str(CORPUS / "r_mlp.py")))
    assert "pip install torch" in raised.value.hint


@pytest.mark.parametrize(
    "name",
    [
        "attention",
        "batch_norm",
        "checkpoint",
        "convolution",
        "embedding_lstm",
        "function",
        "in_place_after",
        "residual",
    ],
)
def test_gradients_are_those_of_torch(name):
    with open_model(Request(str(RUNS / f"r_{name}.torchrun"))) as model:
        gradients = model.run(lambda event: None)
        assert gradients
        for leaf, gradient in gradients.items():
            np.testing.assert_allclose(gradient, leaf.grad.array, rtol=1e-5, atol=1e-7)  # torch's own .grad


def test_processes_that_wait_for_a_gradient_are_told_with_their_line():
    answers = Why().ask(Request(str(RUNS / "b_ddp_waits.torchrun")))
    (waited,) = [a for a in answers if a.finding]
    assert waited.places[-1][0] == "waited for since"
    assert waited.places[-1][1][0][1] == 30
    assert "find_unused_parameters=True" in waited.advice


def test_a_run_that_is_over_proves_nothing():
    proofs = Why(prove=True).ask(Request(str(RUNS / "b_detach_hidden.torchrun")))
    assert "a run that is over" in proofs[0].proved


@pytest.mark.parametrize(("seconds", "time"), [(None, ""), (4.5, "4.5 s and ")])
def test_a_run_that_was_stopped_while_it_was_recorded_says_so(tmp_path, seconds, time):
    """Its last events are written as whoever stops a program would: the pass that was asked for, then the stop."""
    name = "r_accumulation.torchrun"
    arrays, texts = container.read_stream(io.BytesIO((RUNS / name).read_bytes()), name)
    events = json.loads(texts["events"])
    ends = [n for n, event in enumerate(events) if event[0] == "Ended"]
    events = events[: 1 + next(n for n, event in enumerate(events) if event[0] == "Began" and n > ends[1])]
    site = events[-1][1][3]
    passes = 2
    for written in (events, [*events, ["Halted", [site, seconds]]]):
        texts["events"] = json.dumps(written)
        (tmp_path / name).write_bytes(b"".join(map(bytes, container.pieces(arrays, texts))))
        with loader.run_model(Request(str(tmp_path / name))) as left:
            told = run_notes.describe_end(left)
        after = time if written is not events else ""
        where = f"r_accumulation.py:{left.calls.stopped[0][1]}"
        assert told == f"{name} was stopped at {where} after {after}{passes} backward passes; the recording ends there"
    assert "the recording ends there" in str(Why().ask(Request(str(tmp_path / name))).about.scope.more)


def test_damaged_runs_are_refused(tmp_path):
    whole = (RUNS / "b_hook_zeros.torchrun").read_bytes()
    draw = random.Random(3)
    damaged = tmp_path / "damaged.torchrun"
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(draw.randrange(1, 4)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        if draw.random() < 0.2:
            del data[draw.randrange(len(data)) :]
        damaged.write_bytes(data)
        try:
            Why().ask(Request(str(damaged)))
        except (FileFormatError, CommandError):
            pass
        except GradtoolError as error:
            raise AssertionError(f"{type(error).__name__}: {error}") from error
