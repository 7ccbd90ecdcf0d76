"""The scripts that are recorded: of the corpus of scripts, which our own engine answers about, too."""

from __future__ import annotations

from pathlib import Path

from gradtool.engine.questions.why import Why
from gradtool.engine.request.request import Request

RUNS = Path(__file__).parent / "runs"
NETWORKS = sorted((Path(__file__).parent / "corpus").glob("*.py"))
"""Layers of many kinds; nothing is wrong with them."""

PROGRAMS = Path(__file__).parent / "programs"
STATIC = PROGRAMS / "static_program.py"
"""A static program; what Paddle saved of it stands beside it, in both forms."""
TRACED = PROGRAMS / "to_static.py"
PARALLEL = PROGRAMS / "parallel.py"

_CORPUS = Path(__file__).parents[1] / "scripts"
SCRIPTS = [
    _CORPUS / f"{name}.py"
    for name in (
        *("connectivity/cached_features", "connectivity/encoder_under_no_grad", "connectivity/loss_item_added_up"),
        *("connectivity/layer_never_called", "connectivity/optimizer_before_the_new_head"),
        *("connectivity/mask_by_comparison", "connectivity/argmax_tokens_fed_back"),
        *("connectivity/target_under_no_grad_by_mistake", "connectivity/lstm_state_of_the_last_batch"),
        *("correct/gradient_accumulation", "correct/siamese_shared_encoder", "correct/tied_embeddings"),
    )
]


def answered(model: Path) -> list[str]:
    """The findings of ``gradtool why``: verdict, tensor and line."""
    answers = Why().ask(Request(str(model)))
    return sorted(
        f"{a.verdict.name} {a.name} at line {a.location[0][1] if a.location else 0}" for a in answers if a.finding
    )
