"""Every call of the table with operands of every type: as in Paddle, or as decided, and the same in both modes."""

from __future__ import annotations

import pytest

from gradtool.engine.ops import registry
from gradtool.engine.ops.opdef import Trait
from tests.sampling import sampled

from . import table
from .calls import CALLS, SHORT, kinds_of
from .decided import DECISIONS, IN_PROGRAMS, decision_of
from .fixed import operators, outcomes
from .table import RECORDED, decided

NOTED = decided()

ONE_IN = 24
"""The part of the pairs of types that the test command takes in programs: of each first type one of so many."""

ELSEWHERE = {
    "optimizers": "accuracy adadelta adagrad adam adamax adamw lamb momentum rmsprop sgd clip_by_norm squared_l2_norm",
    "newer optimizers": "asgd nadam radam rprop",
    "blocks and branches": "block_grad conditional_block select_input select_output while pylayer py_func print assert",
    "in place": "exponential fill_any fill_diagonal",
    "layers and initializers": "orthogonal_random rnn seed truncated_gaussian_random",
    "old functions": "fill_constant_batch_size_like mul",
    "no public function": "fused_softmax_mask_upper_triangle",
    "appended by type; compared in tests/appended": "add_position_encoding affine_channel anchor_generator "
    "auc average_accumulates baddbmm bilinear_interp "
    "bilinear_tensor_product bipartite_match box_coder check_finite_and_unscale cholesky_solve crop "
    "crop_tensor cross_entropy cross_entropy2 ctc_align decayed_adagrad deformable_conv deformable_conv_v1 "
    "dirichlet dist distribute_fpn_proposals edit_distance expand fc flatten2 ftrl gaussian_inplace "
    "generate_proposals_v2 grad_add graph_send_recv graph_send_ue_recv graph_send_uv gru_unit gumbel_softmax "
    "hierarchical_sigmoid hinge_loss identity_loss kron l1_norm lars_momentum logspace lookup_table lrn "
    "lu_solve matmul matrix_nms matrix_power matrix_rank_atol_rtol maxout merged_adam merged_momentum "
    "multi_dot multiclass_nms3 nce nearest_interp nms norm partial_concat partial_sum prior_box psroi_pool "
    "read_file renorm reshape reverse rint rms_norm roi_align roi_pool row_conv rrelu segment_pool shape64 "
    "shuffle_channel spectral_norm stft svdvals swiglu top_k transpose uniform_random_batch_size_like "
    "uniform_random_inplace update_loss_scaling variance viterbi_decode yolo_box yolov3_loss",
    "lists of tensors": "array_parted array_popped array_without lod_array_length read_from_array "
    "tensor_array_to_tensor write_to_array",
    "selected rows": "get_tensor_from_selected_rows merge_selected_rows",
}
"""Operators in no call, as their types are not the user's to mix."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("call", CALLS)
def test_types_of_a_call(call: str) -> None:
    taken = sampled(
        kinds_of(call), lambda types: f"dynamic {call} {types}", 12, lambda types: types[0] if types else ""
    )
    wrong = []
    for cell in (table.cell(call, types) for types in taken):
        expected = NOTED.get((call, cell.types), cell.theirs)
        if cell.ours != expected:
            wrong.append(f"{cell.types}: {cell.ours} instead of {expected}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("call", CALLS)
def test_a_static_program_declares_and_gives_the_same(call: str) -> None:
    wrong = []
    taken = sampled(kinds_of(call), lambda types: f"{call} {types}", ONE_IN, lambda types: types[0] if types else "")
    for types, (declared, delivered) in zip(taken, outcomes(call, taken), strict=True):
        cell = table.cell(call, types)
        expected = IN_PROGRAMS.get(call, cell.ours)
        if not expected == declared == delivered:
            wrong.append(f"{cell.types}: {declared} is declared and {delivered} comes, in dynamic mode {expected}")
    assert not wrong, "\n".join(wrong)


def test_every_noted_difference_is_one_and_has_a_reason() -> None:
    used = set()
    noted = [(call, types) for call in {call for call, _ in NOTED} for types in kinds_of(call)]
    for call, types in noted:
        if (call, tuple(SHORT[t] for t in types)) in NOTED:
            cell = table.cell(call, types)
            decision = decision_of(cell)
            assert cell.ours != cell.theirs, f"{cell} differs no more"
            assert decision is not None, f"{cell} has no reason"
            used.add(decision)
    assert [d.reason for d in DECISIONS if d not in used] == []


def test_every_call_is_recorded() -> None:
    assert set(RECORDED) == set(CALLS)


def test_every_operator_is_in_a_call() -> None:
    reached = {type_ for call in CALLS for type_ in operators(call)}
    elsewhere = {type_ for types in ELSEWHERE.values() for type_ in types.split()}
    names = {op.type for op in registry.all_ops() if not op.trait & Trait.INTERNAL}
    assert sorted(names - reached - elsewhere) == []
    assert sorted(elsewhere & reached | elsewhere - names) == []
