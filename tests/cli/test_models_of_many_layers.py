"""Answers about models with many layers: which one it is, and long lists that are folded."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run, Write

BLOCKS = 12

MODEL = f"""\
import paddle
import paddle.nn.functional as F
paddle.seed(0)
class Part(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc, self.out = paddle.nn.Linear(4, 4), paddle.nn.Linear(4, 4)
    def forward(self, x):
        h = F.gelu(self.fc(x))
        return self.out(SPOILED)
class Block(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.norm, self.part = paddle.nn.LayerNorm(4), Part()
    def forward(self, x):
        return x + self.part(self.norm(x))
model = paddle.nn.Sequential(*[Block() for _ in range({BLOCKS})])
loss = model(paddle.randn([2, 4])).square().mean()
loss.backward()
"""

WELL = MODEL.replace("SPOILED", "paddle.tanh(h)")


def test_long_lists_of_buffers_are_folded_with_totals_first(gradtool: Run, model: Write) -> None:
    done = gradtool("stats", "--memory", model(WELL))
    lines = done.out.splitlines()
    assert lines[0].split() == ["layer", "buffers", "bytes", "share"]
    totals = lines[1 : lines.index("")]
    assert [line.split()[0] for line in totals[:BLOCKS]] == [f"model.{i}" for i in range(BLOCKS)]
    row = next(line for line in lines if "tanh.0…11" in line)
    assert f"{BLOCKS} of 2×4" in row
    assert "model.0…11.part" in row
    assert sum(line.startswith(" ") for line in lines[lines.index("") :]) < 10
    assert "--top" in done.out


def test_other_forms_hold_every_buffer_with_its_layer(gradtool: Run, model: Write) -> None:
    file = model(WELL)
    buffers = gradtool("stats", "--memory", file, "--format", "json").data["buffers"]
    assert len(buffers) > 40
    assert {b["layer"] for b in buffers if b["tensor"] == "tanh.3"} == {"model.3.part"}
    heading, *rows = gradtool("stats", "--memory", file, "--format", "tsv").cells
    assert len(rows) == len(buffers)
    assert [row[heading.index("layer")] for row in rows] == [b["layer"] or "–" for b in buffers]
    every = gradtool("stats", "--memory", file, "--top", str(len(buffers))).out
    assert "folded" not in every


def test_a_birth_names_the_layer_and_those_like_it_stand_together(gradtool: Run, model: Write) -> None:
    done = gradtool("nan", model(MODEL.replace("SPOILED", "paddle.log(h - h) * 0 + paddle.log(h - h)")))
    assert "   layer      model.0.part\n" in done.out
    carriers = next(line for line in done.out.splitlines() if line.startswith("   carriers"))
    assert f"for {6 * BLOCKS} tensors: model.0…11.part.out.bias, " in carriers
    born = gradtool("nan", model(MODEL.replace("SPOILED", "h + paddle.log(h.detach() * 0)")))
    again = [line for line in born.out.splitlines() if "also born" in line]
    assert len(again) <= 1


def test_layers_of_a_profile_take_what_they_compute_without_parameters(gradtool: Run, model: Write) -> None:
    heading, *rows = gradtool(
        "stats", "--time", model(WELL), "--by", "layer", "--repeats", "1", "--format", "tsv"
    ).cells
    calls = {row[0]: int(row[heading.index("calls")]) for row in rows}
    # Its gelu and its tanh, forward and backward.
    assert calls["model.3.part"] == 4


def test_the_debugger_says_in_which_layer_an_operator_stands(gradtool: Run, model: Write, folder: Path) -> None:
    (folder / "asked.gdt").write_text("where tanh.3\npath model.3.norm.weight\nsaved\n", encoding="utf-8")
    done = gradtool("debug", model(WELL), "-q", "--batch", "-x", "asked.gdt")
    assert "tanh.3   in 3.part\n" in done.out
    assert " 3.norm " in next(line for line in done.out.splitlines() if "model.3.norm.weight@GRAD 4" in line)
    assert " 0.part" in next(line for line in done.out.splitlines() if "tanh.0 " in line and "←" in line)
