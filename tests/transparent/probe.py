"""Record what a script prints and what it holds when it ends.

A copy of this file lies next to a staged script, which calls :func:`watch` with its first statement and :func:`reached`
with its last. It runs in the script's process and imports nothing of the tests.
"""

import atexit
import ctypes
import hashlib
import json
import os
import posix
import random
import re
import sys

OUT = os.environ.get("TRANSPARENT_OUT", "")
TORCH = os.environ.get("TRANSPARENT_KIND") == "torch"
DEPTH = 4
ENTRIES = 512

_TEMPORARY = re.compile(r"/tmp/tmp\w+")

_printed = []
_steps = hashlib.sha1()
_state = {"reached": False, "steps": 0, "streams": []}


class _Tee:
    """A stream that keeps what is written to it."""

    def __init__(self, stream):
        self._stream = stream

    def __getattr__(self, name):
        return getattr(self._stream, name)

    def write(self, text):
        _printed.append(text)
        return self._stream.write(text)

    def writelines(self, texts):
        for text in texts:
            self.write(text)


def watch(names):
    """Begin to record; *names* are the globals of the script."""
    import numpy

    numpy.random.seed(0)
    random.seed(0)
    streams = (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)
    _state["streams"] = [[s.isatty(), s.encoding, s.errors, s.fileno(), s.name, s.mode] for s in streams]
    sys.stdout, sys.stderr = _Tee(sys.stdout), _Tee(sys.stderr)
    if TORCH:
        import torch

        torch.manual_seed(0)
        from torch.optim.optimizer import register_optimizer_step_post_hook

        register_optimizer_step_post_hook(_stepped)
    atexit.register(_finish, names)


def reached():
    """Note that the script came to its end."""
    _state["reached"] = True


def _finish(names):
    found = _Values()
    with _unseen():
        for name in sorted(names):
            if not name.startswith("__"):
                found.add(name, names[name], 0)
        found.add_random()
    printed, raised = "".join(_printed), getattr(sys, "last_type", None)
    if raised is not None:  # what Python prints of an error is no part of what the script prints
        printed = printed[: printed.rfind("Traceback (most recent call last)")].rpartition("\n")[0] + "\n"
        printed = printed.lstrip("\n")
    record = {
        "name": names.get("__name__"),
        "reached": _state["reached"],
        "printed": printed,
        "streams": _state["streams"],
    }
    record["raised"] = "" if raised is None else raised.__name__
    record |= {"steps": f"{_state['steps']} {_steps.hexdigest()}", "values": found.values}
    # Past the functions of os, which lead into an overlay under gradtool.
    number = len(posix.listdir(OUT))
    file = posix.open(f"{OUT}/{number}.json", posix.O_WRONLY | posix.O_CREAT)
    data = json.dumps(record).encode()
    while data:
        data = data[posix.write(file, data) :]
    posix.close(file)


def _unseen():
    """A context in which PyTorch's modes see nothing."""
    if TORCH:
        from torch.utils._python_dispatch import _disable_current_modes

        return _disable_current_modes()
    from contextlib import nullcontext

    return nullcontext()


def _stepped(optimizer, args, named):
    with _unseen():
        _state["steps"] += 1
        for group in optimizer.param_groups:
            for p in group["params"]:
                _steps.update(_of_torch(p).encode())


class _Values:
    """Values by path, each a short text that two runs can be compared by."""

    def __init__(self):
        self.values = {}
        self._seen = {}

    def add(self, path, value, depth):
        """Add what *value* holds."""
        if len(self.values) > 1 << 16 or depth > DEPTH:
            return
        kind = type(value)
        if value is None or kind in (bool, int, float, complex, str, bytes):
            self.values[path] = _TEMPORARY.sub("/tmp/", repr(value)[:ENTRIES])
            return
        if id(value) in self._seen:
            self.values[path] = "as " + self._seen[id(value)][0]
            return
        self._seen[id(value)] = path, value  # held, so that no other value gets its identity
        if kind in (list, tuple):
            for i, entry in enumerate(value[:ENTRIES]):
                self.add(f"{path}[{i}]", entry, depth + 1)
        elif kind is dict:
            for i, key in enumerate(list(value)[:ENTRIES]):
                self.add(f"{path}[{key if isinstance(key, (str, int)) else i}]", value[key], depth + 1)
        elif kind.__module__ == "numpy" and kind.__name__ == "ndarray":
            self.values[path] = f"{value.dtype} {value.shape} {_digest(value.tobytes())}"
        elif isinstance(value, type):
            return  # a class holds no values of a run
        elif TORCH:
            self._add_torch(path, value, depth)
        else:
            self._add_paddle(path, value, depth)

    def _add_torch(self, path, value, depth):
        import torch

        if isinstance(value, torch.Tensor):
            self.values[path] = _of_torch(value)
        elif isinstance(value, torch.nn.Module):
            named = [*value.named_parameters(), *value.named_buffers()]
            self.values.update((f"{path}.{name}", _of_torch(t)) for name, t in named)
            self.values.update((f"{path}.{name} trains", str(m.training)) for name, m in value.named_modules())
        elif isinstance(value, torch.optim.Optimizer):
            self.add(f"{path}.state", value.state_dict(), depth)

    def _add_paddle(self, path, value, depth):
        from gradtool.engine.core import watch
        from gradtool.engine.eager.tensor import Tensor

        if isinstance(value, Tensor):
            self.values[path] = _of_paddle(value)
        elif hasattr(value, "named_parameters") and hasattr(value, "named_buffers"):
            named = [*value.named_parameters(), *value.named_buffers()]
            self.values.update((f"{path}.{name}", _of_paddle(t)) for name, t in named)
        elif hasattr(value, "state_dict") and hasattr(value, "step"):
            with watch.pause_watchers():
                self.add(f"{path}.state", dict(value.state_dict()), depth)

    def add_random(self):
        """Add the state of every generator, and of what else a process holds."""
        import numpy

        self.values["random state"] = _digest(repr(random.getstate()).encode())
        self.values["numpy.random state"] = _digest(repr(numpy.random.get_state()[1:]).encode())
        if TORCH:
            import torch

            state = torch.default_generator.get_state()
            self.values["torch random state"] = _of_torch(state)
            self.values["torch modes"] = f"{torch.is_grad_enabled()} {torch.get_default_dtype()}"
            return
        from gradtool.engine.core import state
        from gradtool.engine.executor.scope import global_scope

        values = global_scope().values
        for name in sorted(values):
            array = numpy.asarray(getattr(values[name], "array", values[name]))
            if array.dtype != object:
                self.values[f"scope {name}"] = f"{array.dtype} {array.shape} {_digest(array.tobytes())}"
        self.values["paddle random state"] = f"{state.random.seed} {state.random.position}"


def _digest(data):
    return hashlib.sha1(data).hexdigest()[:16]


def _of_torch(t):
    """Type, shape, bits, place in the graph and gradient of a tensor of PyTorch."""
    import torch

    base = torch._C.TensorBase
    text = f"{type(t).__name__} {str(t.dtype)[6:]} {tuple(t.shape)} {_bits(t)} {base.requires_grad.__get__(t)}"
    text += f" {base.is_leaf.__get__(t)} {t._version}"
    gradient = base.grad.__get__(t) if base.is_leaf.__get__(t) else None
    return text if gradient is None else f"{text} grad {_bits(gradient)}"


def _bits(t):
    import torch

    if t.layout is not torch.strided:
        t = t.to_dense()
    plain = torch._C.TensorBase.detach(t).resolve_conj().resolve_neg().contiguous()
    return _digest(ctypes.string_at(plain.data_ptr(), plain.numel() * plain.element_size()))


def _of_paddle(t):
    """Type, shape, bits and gradient of a tensor of gradtool's own engine."""
    import numpy

    array = numpy.asarray(t.array)
    text = f"{type(t).__name__} {array.dtype} {array.shape} {_digest(array.tobytes())} {t.stop_gradient}"
    leaf = t._leaf
    if leaf is None or leaf.grad is None:
        return text
    return f"{text} grad {_digest(numpy.asarray(leaf.grad.array).tobytes())}"
