"""The questions as functions of Python: the same answers as the command line's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core import upward, watch
from ..core.errors import ArgumentTypeError, UsageError
from ..eager.parameter import parameters_at
from ..eager.recorded_calls import leaves_behind, nodes_behind
from ..eager.tape import GradNode, loss_scale
from ..eager.tensor import Leaf, Tensor
from ..executor.executor import Executor
from ..executor.scope import global_scope
from ..ir.variable import Variable
from ..runs.recorder import Recorder
from ..view.graph import FORWARD
from . import backend_replay, checking
from . import profile as timing
from . import stats as health
from .coverage import FORWARD_IS_OVER, Coverage
from .depth import calls_of_nodes, calls_of_program
from .events import Adapter
from .gradcheck import GradcheckStory
from .model_run import any_model, compute_loss
from .nan import Hunt, NanStory
from .profile import Clock, ProfileStory
from .program_run import watch_program
from .saved import Keeper, SavedStory, mark_leaves
from .stats import Gatherer, StatsStory
from .tape_pass import watch_tape


def nan(
    model: Any,
    feed: Mapping[str, Any] | None = None,
    *,
    order: int = 1,
    big: float | None = None,
    subnormal: bool = False,
    steps: int = 1,
) -> NanStory:
    """Search a run of *model*, forward and backward, for the place where NaN or infinity is born.

    Args:
        model: a function that computes a loss in dynamic mode and returns it (or runs backward itself), called
            *steps* times; a loss Tensor, of which the backward pass alone can be watched; or the loss Variable of a
            static program, which gets a backward part if it has none and is run once.
        feed: what to feed to a static program.
        order: 2 searches the gradients of the gradients, too.
        big: finite numbers beyond it count as overflow.
        subnormal: whether numbers too small for full precision count.

    Returns:
        The story: ``clean``, ``births`` (the first one is the one to look at), what was absorbed or intended, how many
        operators carried it on, and how much was checked. No ``.grad`` changes, unless the function runs backward.

    Raises:
        ArgumentTypeError: *model* is none of these (a TypeError).
        LossError: nothing was recorded for the loss.

    >>> import gradtool
    >>> from gradtool import paddle
    >>> x = paddle.to_tensor([0.0, 4.0], stop_gradient=False)
    >>> story = gradtool.nan(lambda: paddle.sqrt(x).sum())
    >>> story.births[0].type, story.births[0].cause
    ('sqrt_grad', '0.5·dout/out with out = 0 in 1 of 2 elements')
    """
    if steps < 1:
        raise UsageError(f"steps must be at least 1, but is {steps}.")
    hunt = Hunt(big, subnormal)
    coverage = Coverage(hunt)
    any_model(model, coverage, feed, order, steps)
    return hunt.story([FORWARD_IS_OVER] if isinstance(model, Tensor) else coverage.find_missing())


def gradcheck(
    model: Any, inputs: Any = None, feed: Mapping[str, Any] | None = None, *, order: int = 1, seed: int = 0
) -> GradcheckStory:
    """Compare gradients with differences, along random directions and with random weights.

    Args:
        model: a function that takes *inputs* and returns a Tensor, or several: the ``apply`` of a PyLayer, a Layer,
            anything. Without *inputs*, a function that computes a loss, or the loss Variable of a static program:
            the run is written down and computed again in double precision, branches and loops as they went.
        inputs: a Tensor or a sequence of arguments. Those with ``stop_gradient=False`` are checked. They are cast to
            float64 if the function takes that. Without them, all parameters behind the loss are checked.
        feed: what to feed to a static program.
        order: 2 checks the gradients of the gradients, too.

    Returns:
        An entry for each input and order: its status (``ok``, ``wrong``, ``kink`` or ``unchecked``), the worst element
        with its ratio, and what is likely wrong: a factor, a transpose, a sum that is missing. ``is_passed``
        says whether all are ok.

    Raises:
        ArgumentTypeError: no input needs a gradient, or the function returns no Tensor (a TypeError).
        LossError: nothing was recorded for the loss.

    >>> import gradtool
    >>> from gradtool import paddle
    >>> class Square(paddle.autograd.PyLayer):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...     @staticmethod
    ...     def backward(ctx, dy):
    ...         (x,) = ctx.saved_tensor()
    ...         return dy * x
    >>> x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    >>> gradtool.gradcheck(Square.apply, x).entries[0].cause
    'wrong by a factor of 1/2 (a mean where a sum belongs, or a sum that is missing?)'
    >>> layer = paddle.nn.Linear(3, 2)
    >>> gradtool.gradcheck(lambda: layer(paddle.ones([4, 3])).mean()).is_passed
    True
    """
    if order not in (1, 2):
        raise UsageError(f"order must be 1 or 2, but is {order}.")
    if inputs is not None:
        arguments: Sequence[Any] = inputs if isinstance(inputs, (list, tuple)) else [inputs]
        return GradcheckStory(checking.check_function(model, arguments, order, seed))
    if isinstance(model, Tensor):
        raise ArgumentTypeError(
            "gradcheck: the run that computed this Tensor is over.",
            hint="pass a function that computes it, so that the run can be written down",
        )
    with backend_replay.note_computation():
        return _compare(model, feed, order, seed)


def _compare(model: Any, feed: Mapping[str, Any] | None, order: int, seed: int) -> GradcheckStory:
    """The gradients of a function that computes a loss, or of a program's, compared with differences."""
    recorder = Recorder()
    with backend_replay.hear(None), recorder.record():
        loss = compute_loss(model)
    if isinstance(loss, Variable):
        program = loss.block.program

        def run(fetch: Sequence[Variable]) -> Any:
            handles = Executor().run(program, feed=feed, fetch_list=list(fetch), return_numpy=False)
            return [handle.value for handle in handles]

        return GradcheckStory(checking.check_program(loss, run, order, seed))
    leaves = leaves_behind([loss], nodes_behind([loss]))
    parameters = parameters_at(leaves)
    names: dict[Tensor | Leaf, str] = {
        parameters.get(leaf, leaf): leaf.name if leaf not in parameters else parameters[leaf].layer_path or leaf.name
        for leaf in leaves
    }
    return GradcheckStory(checking.check_loss(loss, recorder, names, order, seed))


def stats(model: Any, feed: Mapping[str, Any] | None = None) -> StatsStory:
    """The sizes of all gradients of one backward pass: per parameter, per layer, per operator, and with depth.

    Args:
        model: a loss Tensor, a function that returns one, or the loss Variable of a static program.
        feed: what to feed to a static program.

    Returns:
        ``parameters``, ``layers`` and ``operators``, each line with norm, ratio to the weight, largest element, zeros
        and a ``verdict``; ``worst(n)``; and ``trend``, if norms vanish or explode with depth. No ``.grad`` changes.

    Raises:
        ArgumentTypeError: *model* is none of these (a TypeError).
        LossError: nothing was recorded for the loss.

    >>> import gradtool
    >>> from gradtool import paddle
    >>> layer = paddle.nn.Linear(3, 2)
    >>> [(line.verdict, line.shape) for line in gradtool.stats(layer(paddle.ones([4, 3])).sum()).parameters]
    [('ok', (3, 2)), ('ok', (2,))]
    """
    gatherer = Gatherer()
    loss = compute_loss(model)
    lines = []
    if isinstance(loss, Variable):
        values: dict[Variable, Any] = {}
        pairs = dict(watch_program(loss, gatherer, feed, keep=values))
        held = global_scope().values.raw
        for p in loss.block.program.all_parameters():
            gradient = pairs.get(p)
            lines.append(health.parameter(p.name, held[p.name], None if gradient is None else values[gradient], p))
    else:
        gradients = watch_tape(loss, gatherer)
        parameters = parameters_at(gradients)
        for leaf, gradient in reversed(gradients.items()):
            if leaf in parameters:
                name = parameters[leaf].layer_path or leaf.name
                lines.append(health.parameter(name, parameters[leaf].array, gradient, leaf))
        nodes = nodes_behind([loss])
        return health.story(lines, gatherer, scale=loss_scale(nodes), calls=calls_of_nodes(nodes))
    return health.story(lines, gatherer, calls=calls_of_program(loss.block.program.global_block().ops))


def saved(model: Any, feed: Mapping[str, Any] | None = None) -> SavedStory:
    """Return what one backward pass of *model* keeps alive of the forward pass.

    Args:
        model: a function that computes a loss in dynamic mode and returns it (or runs backward itself), or the loss
            Variable of a static program. Of a loss Tensor the forward pass is over: what it keeps has no producer.
        feed: what to feed to a static program.

    Returns:
        ``buffers`` with bytes, producer, readers and lifetime; ``total``, ``peak``, ``timeline``, ``duplicated``, and
        what computing again would free and cost (``recomputable``). No ``.grad`` changes, unless the function runs
        backward.

    Raises:
        ArgumentTypeError: *model* is none of these (a TypeError).

    >>> import gradtool
    >>> from gradtool import paddle
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> [(b.producer.type, b.nbytes) for b in gradtool.saved(lambda: paddle.tanh(paddle.exp(x)).sum()).kept]
    [('exp', 8), ('tanh', 8)]
    """
    live = upward.part("running frameworks")
    if live.is_foreign(model):
        story: SavedStory = live.program().measure_saved(model, live.names_of_callers())
        return story
    keeper = Keeper()
    with mark_leaves():
        any_model(model, keeper, feed)
    return keeper.story()


def profile(model: Any, feed: Mapping[str, Any] | None = None, *, repeats: int = 5) -> ProfileStory:
    """Measure what every operator of forward and backward takes, *repeats* times after a run that does not count.

    Args:
        model: a function that computes a loss in dynamic mode and returns it, a loss Tensor (backward alone), or the
            loss Variable of a static program.
        feed: what to feed to a static program.

    Returns:
        ``by("op")``, ``by("type")``, ``by("layer")``, ``by("line")``, ``by("iteration")`` (of loops in a program) and
        ``by("part")``: groups with the seconds of each repeat, their median and spread, and the bytes written;
        ``total``; ``flame()``, folded stacks, and ``speedscope()``, the same for that program. Of a program on a
        backend that compiles, ``device`` says where it was computed and timed, as a whole, and how long that took.

    Raises:
        ArgumentTypeError: *model* is none of these (a TypeError).

    >>> import gradtool
    >>> from gradtool import paddle
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> sorted(g.name for g in gradtool.profile(lambda: paddle.tanh(x).sum()).group_by("type"))
    ['reduce_sum', 'reduce_sum_grad', 'tanh', 'tanh_grad']
    """
    if repeats < 1:
        raise UsageError(f"repeats must be at least 1, but is {repeats}.")
    clock = Clock()
    loss = compute_loss(model)
    if loss is not model and isinstance(loss, Tensor):
        for i in range(repeats):
            if i:
                clock.again(FORWARD)
            with watch.watch(Adapter(clock)):
                loss = compute_loss(model)
    nodes: Sequence[GradNode] = ()
    if isinstance(loss, Variable):
        timing.profile_program(loss, clock, repeats, None, feed)
    else:
        nodes = nodes_behind([loss])
        timing.profile_tape(loss, clock, repeats)
    story = clock.story()
    timing.add_layers(story.costs, nodes)
    return story
