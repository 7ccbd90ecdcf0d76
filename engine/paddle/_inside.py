"""Parts of Paddle's own construction, by module: what each does, and what scripts use for that."""

from __future__ import annotations

from typing import Final

_JIT = ("how Paddle makes programs of functions", "paddle.jit.to_static and paddle.jit.save do it")
_PIR = ("programs of Paddle's newer kind (PIR)", "gradtool's programs are those of paddle.static")
_TENSORS = ("how Paddle gives tensors their methods", "call the method of the tensor")
_TRAINERS = ("training from files on several machines", "read the data by paddle.io.DataLoader")
_LOADING = ("how Paddle loads data", "paddle.io.DataLoader, Dataset and BatchSampler do it")
_ATTENTION = (
    "the choice among kernels of attention",
    "paddle.nn.functional.scaled_dot_product_attention computes it, with attn_mask",
)
_FUNCTIONS = ("how Paddle defines its functions", "call the function of paddle")
_PRECISION = ("how Paddle casts for mixed precision", "paddle.amp.auto_cast, decorate and GradScaler do it")
_MEASURES = ("Paddle's own profiler", "gradtool stats --time MODEL measures")
_MESSAGES = ("kernels of graphs", "paddle.geometric.send_u_recv, send_ue_recv and send_uv compute them")

INSIDE: Final[dict[str, tuple[str, str]]] = {
    "paddle.amp": _PRECISION,
    "paddle.amp.accuracy_compare": ("tables that compare two logs", "gradtool diff --values compares two runs"),
    "paddle.audio": ("tables of windows and data sets", "paddle.audio.functional.get_window gives a window"),
    "paddle.autograd": ("how Paddle runs backward passes", "paddle.grad, paddle.autograd.backward and PyLayer do it"),
    "paddle.autograd.backward_utils": _PIR,
    "paddle.autograd.ir_backward": _PIR,
    "paddle.base": ("what both modes of Paddle are built on", "a function of paddle or paddle.static does it"),
    "paddle.base.backward": ("how Paddle appends backward passes", "paddle.static.append_backward and gradients do it"),
    "paddle.base.default_scope_funcs": ("scopes of variables", "paddle.static.global_scope and scope_guard give them"),
    "paddle.base.device_worker": _TRAINERS,
    "paddle.base.dygraph": _TENSORS,
    "paddle.base.dygraph.tracer": ("how Paddle records dynamic mode", "gradtool backward shows what was recorded"),
    "paddle.base.executor": ("how Paddle runs programs", "paddle.static.Executor runs them"),
    "paddle.base.framework": (
        "how Paddle holds programs",
        "paddle.static.Program, Variable, program_guard and name_scope are here",
    ),
    "paddle.base.libpaddle": ("Paddle's compiled core", "the functions of paddle call it"),
    "paddle.base.libpaddle.pir": _PIR,
    "paddle.base.proto": ("the form of Paddle's files", "paddle.static.save, load and load_inference_model read it"),
    "paddle.base.reader": _LOADING,
    "paddle.base.trainer_desc": _TRAINERS,
    "paddle.base.trainer_factory": _TRAINERS,
    "paddle.base.unique_name": ("how Paddle counts names", "paddle.utils.unique_name.generate and guard do it"),
    "paddle.base.variable_index": ("how Paddle reads what stands in brackets", "index the tensor: x[...]"),
    "paddle.decomposition": _PIR,
    "paddle.distributed": ("training on several machines or devices", "gradtool computes in one process"),
    "paddle.distribution": ("steps of a distribution", "sample, log_prob and entropy of the distribution compute them"),
    "paddle.fft": ("kernels of transforms", "paddle.fft.fft, rfft, irfft and their like compute them"),
    "paddle.framework": ("how Paddle holds programs and seeds", "paddle.seed, paddle.save and paddle.load do it"),
    "paddle.framework.ir": ("passes over Paddle's graphs", "gradtool graph shows a program"),
    "paddle.geometric": _MESSAGES,
    "paddle.hapi": ("adapters of paddle.Model", "paddle.Model, paddle.summary and paddle.flops are here"),
    "paddle.hapi.hub": ("where models are downloaded to", "gradtool downloads nothing; load a file"),
    "paddle.incubate.autograd": ("rules of composed operators", "paddle.grad differentiates all operators here"),
    "paddle.incubate.jit": ("faster functions", "call the function as it is"),
    "paddle.incubate.layers": ("layers for click rates on parameter servers", "write it with the layers of paddle.nn"),
    "paddle.incubate.nn.attn_bias": _ATTENTION,
    "paddle.incubate.nn.functional": ("kernels for graphics cards", "the functions that they fuse are in paddle"),
    "paddle.incubate.nn.layer.fused_transformer": (
        "kernels for graphics cards",
        "paddle.nn.TransformerEncoderLayer computes the same",
    ),
    "paddle.incubate.nn.layer.io": _TRAINERS,
    "paddle.incubate.nn.memory_efficient_attention": _ATTENTION,
    "paddle.incubate.operators.graph_send_recv": _MESSAGES,
    "paddle.incubate.operators": ("kernels for graphics cards", "the layers of paddle.nn that they fuse are here"),
    "paddle.incubate.optimizer": ("steps of an optimizer", "minimize_lbfgs of its module functional does it"),
    "paddle.incubate.passes": ("changes of programs for speed", "leave it out"),
    "paddle.incubate.tensor": ("moves of tensors between devices", "gradtool computes on the CPU; leave it out"),
    "paddle.inference": ("running exported models", "run the model itself"),
    "paddle.io": _LOADING,
    "paddle.jit": _JIT,
    "paddle.jit.profiler": _MEASURES,
    "paddle.nn.clip": (
        "clipping of gradients in programs",
        "paddle.nn.ClipGradByGlobalNorm, ClipGradByNorm and ClipGradByValue do it",
    ),
    "paddle.nn.decode": ("the base of decoders", "paddle.nn.BeamSearchDecoder and dynamic_decode are here"),
    "paddle.nn.functional.flash_attention": _ATTENTION,
    "paddle.nn.functional.sdpa": _ATTENTION,
    "paddle.nn.functional": _FUNCTIONS,
    "paddle.nn.initializer": ("how Paddle delays initial values", "paddle.LazyGuard does it"),
    "paddle.nn.layer": ("how Paddle holds layers and their hooks", "the methods of paddle.nn.Layer do it"),
    "paddle.nn.utils": ("how weights are computed by hooks", "paddle.nn.utils.weight_norm and spectral_norm do it"),
    "paddle.optimizer": ("how optimizers keep their states", "state_dict and set_state_dict give and take them"),
    "paddle.optimizer.lr": (
        "schedules of Paddle's old programs",
        "paddle.optimizer.lr has a class of each: NoamDecay, ExponentialDecay, …",
    ),
    "paddle.pir": _PIR,
    "paddle.pir_utils": _PIR,
    "paddle.profiler": _MEASURES,
    "paddle.random": ("seeds of generators", "paddle.seed sets them"),
    "paddle.reader": _LOADING,
    "paddle.signal": ("kernels of transforms", "paddle.signal.stft and istft compute them"),
    "paddle.static.amp": _PRECISION,
    "paddle.static.io": (
        "what Paddle adds to saved programs",
        "paddle.static.save_inference_model and load_inference_model do it",
    ),
    "paddle.static.nn": ("blocks of programs by hand", "paddle.static.nn.cond, while_loop and switch_case make them"),
    "paddle.static.pir_io": _PIR,
    "paddle.static.python_op": ("operators written in Python", "paddle.static.nn.py_func makes one"),
    "paddle.tensor": _FUNCTIONS,
    "paddle.tensor.einsum": ("steps of einsum", "paddle.einsum computes it"),
    "paddle.tensor.to_string": ("how Paddle prints tensors", "print the tensor; paddle.set_printoptions says how"),
    "paddle.text": ("entries of a data set", "give your data by paddle.io.Dataset"),
    "paddle.utils": _FUNCTIONS,
    "paddle.utils.bwd_graph_utils": ("pictures of Paddle's graphs", "gradtool backward shows the backward graph"),
    "paddle.utils.download": ("downloads", "gradtool downloads nothing; give the path of a file"),
    "paddle.utils.fwd_graph_utils": ("pictures of Paddle's graphs", "gradtool graph shows the graph"),
    "paddle.utils.flops": ("counts of operations", "paddle.flops counts them"),
    "paddle.utils.image_util": ("images for Paddle's old data sets", "paddle.vision.transforms has such functions"),
    "paddle.utils.op_version": ("versions of Paddle's operators", "gradtool reads files of every version"),
    "paddle.version": ("how Paddle was built", "paddle.__version__ says which Paddle gradtool follows"),
    "paddle.vision": _FUNCTIONS,
}  # fmt: skip
"""What a module is about, and what to do instead; the longest part of an address that stands here holds."""


def said_of(module: str) -> str | None:
    """Return what a module of Paddle is about, and what is used for that; None where nothing is known.

    >>> said_of("paddle.tensor.einsum")
    'it is inside Paddle: steps of einsum; paddle.einsum computes it'
    """
    parts = module.split(".")
    for n in range(len(parts), 0, -1):
        if (found := INSIDE.get(".".join(parts[:n]))) is not None:
            return f"it is inside Paddle: {found[0]}; {found[1]}"
    return None
