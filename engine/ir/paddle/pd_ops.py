"""Operators of Paddle's new IR, and what they are called here.

A line for each: the name in the dialect ``pd_op``, the type of the operator here, behind a colon the operands in order,
behind an arrow the results in order, behind a semicolon attributes that are called otherwise (``theirs=ours``; nothing
where there is none) and those that are on (``+name``). An operand is a slot, ``@name`` for a constant that stands for
an attribute (``@name/slot`` where a tensor may stand there as well), ``?`` where gradtool has no place for what may be
given, or ``-`` for what it does without. The table was learnt by having Paddle 3.1.1 translate its own programs,
operator by operator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

_LINES: Final = """
abs abs : X -> Out
accuracy accuracy : Out Indices Label -> Accuracy Correct Total
acos acos : X -> Out
acosh acosh : X -> Out
add elementwise_add : X Y -> Out
add_n sum : X* -> Out
add_position_encoding add_position_encoding : X -> Out
addmm addmm : Input X Y -> Out ; alpha=Alpha beta=Beta
affine_channel affine_channel : X Scale Bias -> Out
affine_grid affine_grid : Theta @output_shape -> Output
all reduce_all : X -> Out ; axis=dim keepdim=keep_dim
allclose allclose : Input Other @rtol @atol -> Out
amax reduce_amax : X -> Out ; axis=dim keepdim=keep_dim
amin reduce_amin : X -> Out ; axis=dim keepdim=keep_dim
anchor_generator anchor_generator : Input -> Anchors Variances
angle angle : X -> Out
any reduce_any : X -> Out ; axis=dim keepdim=keep_dim
argmax arg_max : X @axis -> Out
argmin arg_min : X @axis -> Out
argsort argsort : X -> Out Indices
as_complex as_complex : X -> Out
as_real as_real : X -> Out
as_strided as_strided : input -> out
asin asin : X -> Out
asinh asinh : X -> Out
assign assign : X -> Out
assign_value assign_value :  -> Out
atan atan : X -> Out
atan2 atan2 : X1 X2 -> Out
atanh atanh : X -> Out
baddbmm baddbmm : Input X Y -> Out ; alpha=Alpha beta=Beta
batch_norm batch_norm : X Mean Variance Scale Bias -> Y MeanOut VarianceOut SavedMean ; data_format=data_layout
bce_loss bce_loss : X Label -> Out
bernoulli bernoulli : X -> Out
bicubic_interp bicubic_interp_v2 : X OutSize SizeTensor* Scale -> Out ; data_format=data_layout
bilinear bilinear_tensor_product : X Y Weight Bias -> Out
bilinear_interp bilinear_interp_v2 : X OutSize SizeTensor* Scale -> Out ; data_format=data_layout
bincount bincount : X ? @minlength -> Out
binomial binomial : count prob -> out
bipartite_match bipartite_match : DistMat -> ColToRowMatchIndices ColToRowMatchDist
bitwise_and bitwise_and : X Y -> Out
bitwise_left_shift bitwise_left_shift : x y -> out
bitwise_not bitwise_not : X -> Out
bitwise_or bitwise_or : X Y -> Out
bitwise_right_shift bitwise_right_shift : x y -> out
bitwise_xor bitwise_xor : X Y -> Out
bmm bmm : X Y -> Out
box_coder box_coder : PriorBox PriorBoxVar TargetBox -> OutputBox
broadcast_tensors broadcast_tensors : X* -> Out
cast cast : X -> Out ; dtype=out_dtype
ceil ceil : X -> Out
celu celu : X -> Out
channel_shuffle channel_shuffle : X -> Out
cholesky cholesky : X -> Out
cholesky_solve cholesky_solve : X Y -> Out
class_center_sample class_center_sample : Label -> RemappedLabel SampledLocalClassCenter
clip clip : X @min/Min @max/Max -> Out
clip_by_norm clip_by_norm : X -> Out
complex complex : X Y -> Out
concat concat : X* @axis/AxisTensor -> Out
conj conj : X -> Out
conv2d conv2d : Input Filter -> Output
conv2d_transpose conv2d_transpose : Input Filter @output_size -> Output
conv3d conv3d : Input Filter -> Output
conv3d_transpose conv3d_transpose : Input Filter -> Output
copysign copysign : x y -> out
cos cos : X -> Out
cosh cosh : X -> Out
crop crop_tensor : X @shape @offsets -> Out
cross cross : X Y -> Out ; axis=dim
cross_entropy_with_softmax softmax_with_cross_entropy : Logits Label -> Softmax Loss
ctc_align ctc_align : Input InputLength -> Output OutputLength
cummax cummax : x -> out indices
cummin cummin : x -> out indices
cumprod cumprod : X -> Out
cumsum cumsum : X @axis -> Out
deformable_conv deformable_conv : Input Offset Filter Mask -> Output
depthwise_conv2d depthwise_conv2d : Input Filter -> Output
depthwise_conv2d_transpose depthwise_conv2d_transpose : Input Filter @output_size -> Output
det determinant : Input -> Out
diag diag_v2 : X -> Out
diag_embed diag_embed : Input -> Out
diagonal diagonal : Input -> Out
digamma digamma : X -> Out
dirichlet dirichlet : Alpha -> Out
dist dist : X Y -> Out
distribute_fpn_proposals distribute_fpn_proposals : FpnRois RoisNum -> MultiFpnRois MultiLevelRoIsNum RestoreIndex
divide elementwise_div : X Y -> Out
dot dot : X Y -> Out
dropout dropout : X ? @dropout_prob -> Out Mask ; mode=dropout_implementation
edit_distance edit_distance : Hyps Refs HypsLength RefsLength -> SequenceNum Out
eig eig : X -> Eigenvalues Eigenvectors
eigh eigh : X -> Eigenvalues Eigenvectors
eigvals eigvals : X -> Out
eigvalsh eigvalsh : X -> Eigenvalues Eigenvectors ; uplo=UPLO
einsum einsum : Operands* -> Out
elementwise_pow elementwise_pow : X Y -> Out
elu elu : X -> Out
embedding lookup_table_v2 : Ids W -> Out ; sparse=is_sparse
empty empty : @shape/ShapeTensor -> Out
empty_like fill_any_like : X -> Out
equal equal : X Y -> Out
equal_all equal_all : X Y -> Out
erf erf : X -> Out
erfinv erfinv : X -> Out
exp exp : X -> Out
expand expand_v2 : X @shape/Shape -> Out
expand_as expand_as_v2 : X Y -> Out
expm1 expm1 : X -> Out
exponential exponential : X -> Out ; lam=lambda
eye eye : @num_rows @num_columns -> Out
fft_c2c fft_c2c : X -> Out
fft_c2r fft_c2r : X -> Out
fft_r2c fft_r2c : X -> Out
fill fill_any : X @value -> Out
fill_diagonal fill_diagonal : X -> Out
fill_diagonal_tensor fill_diagonal_tensor : X Y -> Out
flatten flatten_contiguous_range : X -> Out
flip flip : X -> Out
floor floor : X -> Out
floor_divide elementwise_floordiv : X Y -> Out
fmax elementwise_fmax : X Y -> Out
fmin elementwise_fmin : X Y -> Out
fold fold : X -> Y
fractional_max_pool2d fractional_max_pool2d : x -> out mask
fractional_max_pool3d fractional_max_pool3d : x -> out mask
frame frame : X -> Out
frobenius_norm frobenius_norm : X @dim -> Out
full_batch_size_like fill_constant_batch_size_like : Input -> Out
full_like fill_any_like : X @value -> Out
full_with_tensor fill_constant : @value/ValueTensor @shape/ShapeTensor -> Out
fused_softmax_mask_upper_triangle fused_softmax_mask_upper_triangle : X -> Out
gammaincc gammaincc : x y -> out
gammaln gammaln : x -> out
gather gather : X Index @axis/Axis -> Out
gather_nd gather_nd : X Index -> Out
gather_tree gather_tree : Ids Parents -> Out
gaussian gaussian_random : @shape/ShapeTensor -> Out
gaussian_inplace gaussian_inplace : x -> out
gelu gelu : X -> Out
greater_equal greater_equal : X Y -> Out
greater_than greater_than : X Y -> Out
grid_sample grid_sampler : X Grid -> Output
group_norm group_norm : X Scale Bias -> Y Mean Variance ; data_format=data_layout
gru_unit gru_unit : Input HiddenPrev Weight Bias -> Gate ResetHiddenPrev Hidden
gumbel_softmax gumbel_softmax : X -> Out
hardshrink hard_shrink : X -> Out
hardsigmoid hard_sigmoid : X -> Out
hardswish hard_swish : X -> Out
hardtanh brelu : X -> Out
heaviside elementwise_heaviside : X Y -> Out
hinge_loss hinge_loss : Logits Labels -> Loss
histogram histogram : X -> Out
hsigmoid_loss hierarchical_sigmoid : X Label W Bias PathTable PathCode -> Out PreOut W_Out
huber_loss huber_loss : X Y -> Out Residual
i0 i0 : x -> out
i0e i0e : x -> out
i1 i1 : x -> out
i1e i1e : x -> out
identity_loss identity_loss : X -> Out
imag imag : X -> Out
increment increment : X -> Out ; value=step
index_add index_add : X Index AddValue -> Out
index_put index_put : x indices* value -> out
index_sample index_sample : X Index -> Out
index_select index_select : X Index -> Out ; axis=dim
instance_norm instance_norm : X Scale Bias -> Y SavedMean SavedVariance
inverse inverse : Input -> Output
is_empty is_empty : X -> Out
isclose isclose : Input Other @rtol @atol -> Out
isfinite isfinite_v2 : X -> Out
isinf isinf_v2 : X -> Out
isnan isnan_v2 : X -> Out
kldiv_loss kldiv_loss : X Target -> Loss
kron kron : X Y -> Out
kthvalue kthvalue : X -> Out Indices
l1_norm l1_norm : X -> Out
label_smooth label_smooth : X PriorDist -> Out
layer_norm layer_norm : X Scale Bias -> Y Mean Variance
leaky_relu leaky_relu : X -> Out ; negative_slope=alpha
legacy_reshape reshape : X @shape -> Out
lerp lerp : X Y Weight -> Out
less_equal less_equal : X Y -> Out
less_than less_than : X Y -> Out
lgamma lgamma : X -> Out
linear_interp linear_interp_v2 : X OutSize SizeTensor* Scale -> Out ; data_format=data_layout
linspace linspace : Start Stop Num -> Out
log log : X -> Out
log10 log10 : X -> Out
log1p log1p : X -> Out
log2 log2 : X -> Out
log_loss log_loss : Predicted Labels -> Loss
log_softmax log_softmax : X -> Out
logcumsumexp logcumsumexp : X -> Out
logical_and logical_and : X Y -> Out
logical_not logical_not : X -> Out
logical_or logical_or : X Y -> Out
logical_xor logical_xor : X Y -> Out
logit logit : X -> Out
logsigmoid logsigmoid : X -> Out
logspace logspace : Start Stop Num Base -> Out
logsumexp logsumexp : X -> Out
lp_pool2d lp_pool2d : x -> out
lrn lrn : X -> Out MidOut
lstsq lstsq : X Y @rcond -> Solution Residuals Rank SingularValues
lu lu : X -> Out Pivots Infos ; pivot=pivots
lu_solve lu_solve : b lu pivots -> out
lu_unpack lu_unpack : X Pivots -> Pmat L U
masked_fill masked_fill : x mask value -> out
masked_select masked_select : X Mask -> Y
matmul matmul_v2 : X Y -> Out ; transpose_x=trans_x transpose_y=trans_y
matrix_nms matrix_nms : BBoxes Scores -> Out Index RoisNum
matrix_power matrix_power : X -> Out
matrix_rank matrix_rank : X -> Out
matrix_rank_atol_rtol matrix_rank_atol_rtol : x atol rtol -> out
max reduce_max : X @dim -> Out ; keepdim=keep_dim
max_pool2d_with_index max_pool2d_with_index : X -> Out Mask ; kernel_size=ksize
max_pool3d_with_index max_pool3d_with_index : X -> Out Mask ; kernel_size=ksize
maximum elementwise_max : X Y -> Out
maxout maxout : X -> Out
mean reduce_mean : X @dim -> Out ; keepdim=keep_dim
mean_all mean : X -> Out
meshgrid meshgrid : X* -> Out
min reduce_min : X @dim -> Out ; keepdim=keep_dim
minimum elementwise_min : X Y -> Out
mish mish : X -> Out ; lambda=threshold
mode mode : X -> Out Indices
multi_dot multi_dot : X* -> Out
multiclass_nms3 multiclass_nms3 : BBoxes Scores -> Out Index NmsRoisNum
multinomial multinomial : X @num_samples -> Out
multiplex multiplex : X* Ids -> Out
multiply elementwise_mul : X Y -> Out
mv mv : X Vec -> Out
nanmedian nanmedian : X -> Out MedianIndex
nearest_interp nearest_interp_v2 : X OutSize SizeTensor* Scale -> Out ; data_format=data_layout
nextafter nextafter : x y -> out
nll_loss nll_loss : X Label Weight -> Out Total_weight
nms nms : Boxes -> KeepBoxesIdxs ; threshold=iou_threshold
nonzero where_index : Condition -> Out
norm norm : X -> Out Norm
not_equal not_equal : X Y -> Out
numel size : Input -> Out
one_hot one_hot_v2 : X @depth/depth_tensor -> Out
overlap_add overlap_add : X -> Out
p_norm p_norm : X -> Out
pad pad : X @pad_value -> Out
pad3d pad3d : X @paddings -> Out ; pad_value=value
partial_concat partial_concat : X* -> Out
partial_sum partial_sum : X* -> Out
pixel_shuffle pixel_shuffle : X -> Out
pixel_unshuffle pixel_unshuffle : X -> Out
poisson poisson : X -> Out
polygamma polygamma : x -> out
pool2d pool2d : X @ksize -> Out
pool3d pool3d : X -> Out ; kernel_size=ksize
pow pow : X -> Out ; y=factor
prelu prelu : X Alpha -> Out
prior_box prior_box : Input Image -> Boxes Variances
prod reduce_prod : X @dim -> Out ; keepdim=keep_dim
psroi_pool psroi_pool : X ROIs RoisNum -> Out
put_along_axis put_along_axis : Input Index Value -> Result ; axis=Axis include_self=Include_self reduce=Reduce
qr qr : X -> Q R
randint randint : @shape/ShapeTensor -> Out
randperm randperm :  -> Out
real real : X -> Out
reciprocal reciprocal : X -> Out
reduce_as reduce_as : x target -> out
relu relu : X -> Out
relu6 relu6 : X -> Out
remainder elementwise_mod : X Y -> Out
renorm renorm : X -> Out
repeat_interleave repeat_interleave : X -> Out ; axis=dim repeats=Repeats
repeat_interleave_with_tensor_index repeat_interleave : X RepeatsTensor -> Out ; axis=dim output_size=
reshape reshape2 : X @shape/Shape -> Out
reverse reverse : X @axis -> Out
rint rint : x -> out
rms_norm rms_norm : x bias residual norm_weight norm_bias -> out residual_out inv_var
rnn rnn : Input PreState* WeightList* SequenceLength - -> Out DropoutState State Reserve
roi_align roi_align : X ROIs RoisNum -> Out
roi_pool roi_pool : X ROIs RoisNum -> Out Argmax
roll roll : X @shifts -> Out
round round : X -> Out
row_conv row_conv : X Filter -> Out
rrelu rrelu : X -> Out Noise
rsqrt rsqrt : X -> Out
scale scale : X @scale/ScaleTensor -> Out
scatter scatter : X Ids Updates -> Out
scatter_nd_add scatter_nd_add : X Index Updates -> Out
searchsorted searchsorted : SortedSequence Values -> Out
seed seed :  -> Out
segment_pool segment_pool : X SegmentIds -> Out SummedIds
selu selu : X -> Out
send_u_recv graph_send_recv : X Src_index Dst_index @out_size -> Out Dst_count
send_ue_recv graph_send_ue_recv : X Y Src_index Dst_index @out_size -> Out Dst_count
send_uv graph_send_uv : x y src_index dst_index -> out
sequence_mask sequence_mask : X @maxlen -> Y
set_value set_value : Input @starts @ends @steps -> Out
set_value_with_tensor set_value : Input ValueTensor @starts @ends @steps -> Out
shape shape : Input -> Out
shape64 shape64 : input -> out
shard_index shard_index : X -> Out
share_data share_data : X -> Out
shuffle_channel shuffle_channel : X -> Out
sigmoid sigmoid : X -> Out
sigmoid_cross_entropy_with_logits sigmoid_cross_entropy_with_logits : X Label pos_weight -> Out
sign sign : X -> Out
silu silu : X -> Out
sin sin : X -> Out
sinh sinh : X -> Out
slice slice : Input @starts/StartsTensor @ends/EndsTensor -> Out
slogdet slogdeterminant : Input -> Out
softmax softmax : X -> Out
softplus softplus : X -> Out
softshrink softshrink : X -> Out ; threshold=lambda
softsign softsign : X -> Out
solve solve : X Y -> Out
spectral_norm spectral_norm : Weight U V -> Out
split split : X @sections @axis -> Out
split_with_num split : X @axis/AxisTensor -> Out
sqrt sqrt : X -> Out
square square : X -> Out
squared_l2_norm squared_l2_norm : X -> Out
squeeze squeeze2 : X @axes -> Out
stack stack : X* -> Y
standard_gamma standard_gamma : x -> out
stanh stanh : X -> Out
stft stft : X Window -> Out
strided_slice strided_slice : Input @starts/StartsTensor @ends/EndsTensor @strides/StridesTensor -> Out
subtract elementwise_sub : X Y -> Out
sum reduce_sum : X @dim -> Out ; dtype=out_dtype keepdim=keep_dim
svd svd : X -> U S VH
svdvals svdvals : x -> s
swiglu swiglu : x y -> out
swish swish : X -> Out
take_along_axis take_along_axis : Input Index -> Result ; axis=Axis
tan tan : X -> Out
tanh tanh : X -> Out
tanh_shrink tanh_shrink : X -> Out
temporal_shift temporal_shift : X -> Out
thresholded_relu thresholded_relu : X -> Out
tile tile : X @repeat_times/RepeatTimes -> Out
topk top_k_v2 : X @k/K -> Out Indices
trace trace : Input -> Out
transpose transpose2 : X -> Out ; perm=axis
triangular_solve triangular_solve : X Y -> Out
tril tril_triu : X -> Out ; +lower
tril_indices tril_indices :  -> out
trilinear_interp trilinear_interp_v2 : X OutSize SizeTensor* Scale -> Out ; data_format=data_layout
triu tril_triu : X -> Out
triu_indices triu_indices :  -> out
trunc trunc : X -> Out
truncated_gaussian_random truncated_gaussian_random :  -> Out
unbind unbind : X -> Out
unfold unfold : X -> Y
uniform uniform_random : @shape/ShapeTensor @min @max -> Out
uniform_inplace uniform_random_inplace : X -> Out
uniform_random_batch_size_like uniform_random_batch_size_like : Input -> Out
unique unique : X -> Out Indices Index Counts
unique_consecutive unique_consecutive : X -> Out Index Counts
unpool unpool : X Indices @output_size -> Out ; padding=paddings
unpool3d unpool3d : X Indices -> Out
unsqueeze unsqueeze2 : X @axes -> Out
unstack unstack : X -> Y
variance variance : x -> out
viterbi_decode viterbi_decode : Input Transition Length -> Scores Path
warpctc warpctc : Logits Label LogitsLength LabelLength -> Loss WarpCTCGrad
warprnnt warprnnt : input label input_lengths label_lengths -> loss warprnntgrad
where where : Condition X Y -> Out
yolo_box yolo_box : X ImgSize -> Boxes Scores
yolo_loss yolov3_loss : X GTBox GTLabel GTScore -> Loss ObjectnessMask GTMatchMask
"""


class PdOperator(NamedTuple):
    """An operator of the new IR.

    Attributes:
        type: of the operator here.
        operands: slots, ``@`` and an attribute, ``?`` or ``-``, in order.
        outputs: slots, in order.
        renamed: attributes that are called otherwise.
        types: attributes that are data types.
        fixed: attributes that the new IR does not say.
    """

    type: str
    operands: Sequence[str]
    outputs: Sequence[str]
    renamed: Mapping[str, str]
    types: Sequence[str] = ("dtype", "out_dtype")
    fixed: Mapping[str, Any] = {}


def _entries() -> Iterator[tuple[str, PdOperator]]:
    for line in _LINES.strip().splitlines():
        head, _, rest = line.partition(" : ")
        name, type_ = head.split()
        operands, _, rest = rest.partition("->")
        outputs, _, renamed = rest.partition(";")
        pairs = dict(word.split("=") for word in renamed.split() if "=" in word)
        fixed = {word[1:]: True for word in renamed.split() if word[0] == "+"}
        columns = [column.removesuffix("*") for column in operands.split()]
        yield name, PdOperator(type_, columns, outputs.split(), pairs, fixed=fixed)


TABLE: Final[Mapping[str, Sequence[PdOperator]]] = {name: (entry,) for name, entry in _entries()}
"""Name in the dialect ``pd_op`` -> what it may be here."""
