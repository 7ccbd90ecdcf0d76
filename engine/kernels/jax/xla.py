"""Differences of the JAX backend: where values stay, and how plans are carried out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import jax
import jax.numpy

from ...core.errors import BackendError
from ...core.streams import Draws
from ...ops.opdef import OpDef
from ..backend import Backend, Compiled, Kernel, Look
from ..choice import reference
from . import contents, devices, measuring, pytrees, streams
from .blocks import BlockKernel
from .compilation import Compilation
from .mesh import Mesh, axes_of
from .single_instruction import SeparateKernel


class XlaBackend(Backend):
    """Compiles plans; leaves the tensors of dynamic mode to the reference, whose tape becomes a program."""

    passes = frozenset({"prune"})  # XLA folds and frees by itself
    compiles = True
    flushes = True
    has_settings = True

    def __init__(self, name: str, chain: tuple[str, ...], mesh: Mesh | None = None) -> None:
        super().__init__(name, jax.numpy, chain)
        self.eager = reference()
        self.mesh = mesh
        self.has_places = mesh is not None

    def sees(self, device: str) -> bool:
        try:
            devices.device(device)
        except BackendError:
            return False
        return True

    def is_at(self, device: str) -> bool:
        # Where --device says so, a script's CPUPlace does not undo it.
        if jax.config.jax_default_device is not None:  # type: ignore[attr-defined]
            return device == "cpu"
        return bool(devices.device(device) == jax.local_devices()[0])

    def spread(
        self, mesh: str | Mapping[str, int], shards: Mapping[str, Sequence[str | None]] | None = None
    ) -> XlaBackend:
        over = Mesh(axes_of(mesh) if isinstance(mesh, str) else mesh, shards)
        return type(self)(f"{self.name} on {over.name}", self.chain, over)

    def until(self, begin: int, end: Any, state: Any, step: Callable[[Any, Any], tuple[Any, Any]]) -> Any:
        def goes_on(carried: Any) -> Any:
            n, done, _ = carried
            return (n < end) & ~done

        def go_on(carried: Any) -> Any:
            n, _, state = carried
            state, done = step(n, state)
            return n + 1, self.xp.asarray(done), state

        start = self.xp.asarray(begin, "int64"), self.xp.asarray(False), state
        return jax.lax.while_loop(goes_on, go_on, start)[2]

    def run(self, op: OpDef, operands: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
        """By a kernel of this backend where there is one: a definition's own may be of a kind that is not compiled."""
        offered = self._offer(op.type, attrs, ()) if op.forward is None else None
        return offered(*operands) if offered is not None else super().run(op, operands, attrs)

    @contextmanager
    def settings(self, device: str | None = None, precision: str | None = None) -> Iterator[None]:
        with ExitStack() as stack:
            if device is not None:
                stack.enter_context(jax.default_device(devices.device(device)))
            if precision is not None:
                stack.enter_context(jax.default_matmul_precision(precision))
            yield

    def scan(self, step: Any, state: Any, each: Any, reverse: bool = False) -> Any:
        return jax.lax.scan(step, state, tuple(each), reverse=reverse)

    def separate(self, op: Any, kernel: Kernel, reference: Any) -> Kernel:
        return SeparateKernel(op, kernel, reference)

    def block(self, op: Any, runner: Any) -> Kernel:
        return BlockKernel(op, runner)

    def compile(self, plan: Any, look: Look | None = None) -> Compiled:
        return Compilation(plan, look, self.mesh)

    def function(self, own: Callable[..., Any]) -> Callable[..., Any]:
        return jax.jit(own)

    def draws(self, seed: int = 0) -> Draws:
        """Random numbers: while a plan is traced from the streams of its runs, else from NumPy's."""
        stream = streams.current()
        if stream is None:
            return super().draws(seed)
        return streams.TracedStream(seed) if seed else stream

    def draws_of(self, seed: Any) -> Draws:
        return super().draws_of(seed) if streams.current() is None else streams.choose_stream(seed)

    def loaded(self, values: dict[str, Any], names: Iterable[str]) -> None:
        for name in names:
            value = values[name]
            if self.mesh is not None:
                values[name] = self.mesh.put(value, self.mesh.parameter_sharding(name, value.shape))
            elif not isinstance(value, jax.Array):
                values[name] = jax.numpy.array(value)  # a copy: what others hold must not be overwritten by a later run

    def home(self, value: Any) -> Any:
        return pytrees.home(value)

    def measure(self, value: Any) -> Mapping[str, Any] | None:
        return measuring.measure(measuring.lay(value)) if isinstance(value, jax.Array) else None

    def contents(self, value: Any) -> bytes:
        return contents.contents(value)

    def kept(self, value: Any) -> bool:
        return isinstance(value, jax.Array)
