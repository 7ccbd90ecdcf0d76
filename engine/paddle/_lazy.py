"""Modules that public names come from; loaded on first use.

A name that is not here raises an error that says so and names what is near, so that a program written for Paddle
never meets a silent stub.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import FunctionType, ModuleType
from typing import Any

SUBMODULES: dict[str, tuple[str, ...]] = {
    "gradtool.paddle": (
        "static",
        "nn",
        "fluid",
        "base",
        "framework",
        "utils",
        "tensor",
        "device",
        "autograd",
        "optimizer",
        "regularizer",
        "incubate",
        "distributed",
        "io",
        "metric",
        "distribution",
        "amp",
        "common_ops_import",
        "version",
        "linalg",
        "fft",
        "signal",
        "jit",
        "callbacks",
        "hapi",
        "vision",
        "reader",
        "sparse",
        "geometric",
        "hub",
        "profiler",
        "sysconfig",
        "audio",
        "text",
    ),
    "gradtool.paddle.sparse": ("nn",),
    "gradtool.paddle.sparse.nn": ("functional",),
    "gradtool.paddle.audio": ("backends", "datasets", "features", "functional"),
    "gradtool.paddle.text": ("datasets",),
    "gradtool.paddle.hapi": ("callbacks", "dynamic_flops", "model", "model_summary", "progressbar"),
    "gradtool.paddle.amp": ("debugging", "grad_scaler"),
    "gradtool.paddle.autograd": ("py_layer",),
    "gradtool.paddle.framework": ("random",),
    "gradtool.paddle.device": ("cuda",),
    "gradtool.paddle.base.dygraph": ("base",),
    "gradtool.paddle.incubate": ("autograd", "nn", "optimizer"),
    "gradtool.paddle.incubate.nn": ("functional",),
    "gradtool.paddle.incubate.optimizer": ("functional",),
    "gradtool.paddle.distributed": ("fleet",),
    "gradtool.paddle.distribution": (
        "bernoulli",
        "beta",
        "binomial",
        "categorical",
        "cauchy",
        "chi2",
        "constraint",
        "continuous_bernoulli",
        "dirichlet",
        "distribution",
        "exponential",
        "exponential_family",
        "gamma",
        "geometric",
        "gumbel",
        "independent",
        "kl",
        "laplace",
        "lkj_cholesky",
        "lognormal",
        "multinomial",
        "multivariate_normal",
        "normal",
        "poisson",
        "student_t",
        "transform",
        "transformed_distribution",
        "uniform",
        "variable",
    ),
    "gradtool.paddle.distributed.fleet": ("meta_parallel", "utils"),
    "gradtool.paddle.static": ("amp", "nn"),
    "gradtool.paddle.static.amp": ("bf16",),
    "gradtool.paddle.vision": ("datasets", "image", "models", "ops", "transforms"),
    "gradtool.paddle.vision.datasets": ("cifar", "flowers", "folder", "mnist", "voc2012"),
    "gradtool.paddle.vision.transforms": ("functional", "transforms"),
    "gradtool.paddle.vision.models": (
        "densenet",
        "inceptionv3",
        "lenet",
        "mobilenetv1",
        "mobilenetv2",
        "mobilenetv3",
        "resnet",
        "shufflenetv2",
        "squeezenet",
        "vgg",
    ),
    "gradtool.paddle.nn": ("clip", "decode", "functional", "init", "initializer", "layer", "utils"),
    "gradtool.paddle.nn.layer": (
        "activation",
        "common",
        "container",
        "conv",
        "distance",
        "layers",
        "loss",
        "norm",
        "pooling",
        "rnn",
        "transformer",
        "vision",
    ),
    "gradtool.paddle.nn.functional": (
        "activation",
        "common",
        "conv",
        "distance",
        "extension",
        "flash_attention",
        "input",
        "loss",
        "norm",
        "pooling",
        "vision",
    ),
    "gradtool.paddle.optimizer": ("lr",),
    "gradtool.paddle.base": (
        "backward",
        "core",
        "data_feeder",
        "dygraph",
        "executor",
        "framework",
        "initializer",
        "layer_helper",
        "param_attr",
        "unique_name",
        "wrapped_decorator",
    ),
    "gradtool.paddle.fluid": (
        "backward",
        "clip",
        "core",
        "data_feeder",
        "dygraph",
        "executor",
        "framework",
        "initializer",
        "io",
        "layer_helper",
        "layers",
        "metrics",
        "nets",
        "optimizer",
        "param_attr",
        "regularizer",
        "unique_name",
    ),
    "gradtool.paddle.io": ("dataloader",),
    "gradtool.paddle.io.dataloader": ("batch_sampler", "collate", "dataset", "sampler", "worker"),
    "gradtool.paddle.utils": ("dlpack", "download", "layers_utils", "unique_name"),
}
"""Modules that may be reached as attributes of their package; one without a file has the names that the tables say."""

_MODES = dict.fromkeys(
    (
        "_current_expected_place",
        "_current_expected_place_",
        "_dygraph_tracer",
        "_global_flags",
        "_in_eager_without_dygraph_check",
        "_in_legacy_dygraph",
        "_non_static_mode",
        "_set_expected_place",
        "_test_eager_guard",
    ),
    "gradtool.paddle._legacy_modes",
)

PRIVATE: dict[str, dict[str, str]] = {
    "gradtool.paddle.base.framework": _MODES,
    "gradtool.paddle.fluid.framework": _MODES,
    "gradtool.paddle.framework": _MODES,
    "gradtool.paddle.hapi.model": {"_all_gather": "gradtool.paddle.hapi._lists"},
    "gradtool.paddle.nn.functional.conv": {"_conv_nd": "gradtool.paddle.nn.functional._by_numbers"},
    "gradtool.paddle.distributed": {"_get_global_group": "gradtool.paddle.distributed._groups"},
    "gradtool.paddle.nn.layer.conv": {"_ConvNd": "gradtool.paddle.nn._conv_layers"},
    "gradtool.paddle.nn.layer.norm": {
        "_BatchNormBase": "gradtool.paddle.nn._batch_norm",
        "_InstanceNormBase": "gradtool.paddle.nn._norm_layers",
    },
    "gradtool.paddle.nn.layer.transformer": {
        "_convert_attention_mask": "gradtool.paddle.nn._attention",
        "_convert_param_attr_to_list": "gradtool.paddle.nn._transformer",
    },
}
"""What public models import although its name begins with an underscore: package -> name -> where it is defined."""

REASONS: dict[tuple[str, str], str] = {}
"""Why a known name of Paddle's is not there, by package and name; filled by :func:`announce`."""

SOURCES: dict[str, dict[str, str]] = {}
"""Package -> public name -> the module that defines it; filled by :func:`provide`, asked by :func:`sources`."""

LATE: dict[str, str] = {
    "gradtool.paddle.reader": "toolkit",
    "gradtool.paddle.amp": "toolkit",
    "gradtool.paddle.base": "legacy",
    "gradtool.paddle.callbacks": "toolkit",
    "gradtool.paddle.distributed": "distributed",
    "gradtool.paddle.distribution": "distribution",
    "gradtool.paddle.fluid": "legacy",
    "gradtool.paddle.framework": "legacy",
    "gradtool.paddle.geometric": "sparse",
    "gradtool.paddle.hapi": "toolkit",
    "gradtool.paddle.incubate": "incubate",
    "gradtool.paddle.sparse": "sparse",
    "gradtool.paddle.vision": "vision",
    "gradtool.paddle.profiler": "toolkit",
    "gradtool.paddle.audio": "toolkit",
    "gradtool.paddle.text": "toolkit",
}
"""Packages with many names that few programs ask for -> their table, ``_names_….py``, read when one is asked."""


def provide(package: str, module: str, names: str) -> None:
    """Say that *names* (separated by blanks) of *package* are defined in *module*."""
    SOURCES.setdefault(package, {}).update(dict.fromkeys(names.split(), module))


def provide_all(*rows: tuple[str, str, str]) -> None:
    """Provide all names of the tables in one call, as :func:`provide` does row by row: this runs at every start."""
    for package, module, names in rows:
        SOURCES.setdefault(package, {}).update(dict.fromkeys(names.split(), module))


def announce(package: str, names: str, why: str) -> None:
    """Say why *names* (separated by blanks) of *package* are not there."""
    REASONS.update(dict.fromkeys([(package, name) for name in names.split()], why))


def sources(package: str) -> dict[str, str]:
    """The public names of *package*, each with the module that defines it."""
    from . import _names  # noqa: F401  (fills SOURCES)

    if late := LATE.get(".".join(package.split(".")[:3])):
        importlib.import_module(f"gradtool.paddle._names_{late}")
    return SOURCES.get(package, {})


def packages() -> set[str]:
    """The packages and modules whose public names are in the tables, all of which are loaded for it."""
    for package in ("gradtool.paddle", *LATE):
        sources(package)
    return {*SUBMODULES, *SOURCES}


_HELD: Any = vars(ModuleType)["__dict__"]


def fields(module: ModuleType) -> dict[str, Any]:
    """Return the names that a module holds by now; ``vars`` of a :class:`Furnished` one would load all of its names."""
    held: dict[str, Any] = _HELD.__get__(module)
    return held


class Furnished(ModuleType):
    """A module whose ``dir()`` and ``vars()`` have every name that Paddle's module has.

    Its own modules become furnished when the import system puts them in their place. A function or class keeps its name
    when a module of the same name is imported: ``from paddle.amp.auto_cast import amp_state`` makes the import system
    put the module ``auto_cast`` where the class is; in Paddle the class comes after it.
    """

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]  # what vars() and star imports ask for
        held = fields(self)
        asking = str(sys._getframe(1).f_globals.get("__name__")).partition(".")[0]
        if (
            asking == "gradtool"
            or asking in sys.stdlib_module_names
            or getattr(held["__spec__"], "_initializing", False)
        ):
            return held
        for name in dir(self):
            if name not in held and not name.startswith("__"):
                held[name] = getattr(self, name)
        return held

    def __dir__(self) -> list[str]:
        from . import _recorded

        return sorted({*super().__dir__(), *_recorded.of(self.__name__)})

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType):
            if value.__name__ == f"{self.__name__}.{name}" and name[0] != "_":
                furnish(value)
            if name in SETTLED.get(self.__name__, ()):
                return
        super().__setattr__(name, value)


RECORDED: dict[str, set[str]] = {}
"""Package -> names that it has from the record alone, and that were asked for by now."""

SETTLED: dict[str, set[str]] = {}
"""Package -> functions and classes that stay what they are when a module of that name is imported."""

UNFURNISHED = [["cli"], ["engine"], ["models"], ["testing"], ["viz"]]
"""Second parts of the paths of modules that have no counterpart in Paddle."""


def is_paddles(path: str) -> bool:
    """Return True for a module of gradtool that is shaped like one of Paddle's."""
    return path.split(".")[1:2] not in UNFURNISHED


def furnish(module: ModuleType) -> None:
    """See that a module has all the names of Paddle's."""
    if type(module) is not ModuleType or not is_paddles(module.__name__):
        return
    held = fields(module)
    held.setdefault("__getattr__", refuse(module.__name__, held))
    module.__class__ = Furnished


def own_names(module: ModuleType) -> list[str]:
    """Return the names that a module has by a table or in its file, in order."""
    return sorted({*ModuleType.__dir__(module)} - RECORDED.get(module.__name__, set()))


def has_file(path: str) -> bool:
    """Return True for a module of gradtool that has a file."""
    place = os.path.join(os.path.dirname(__file__), *path.split(".")[2:])  # this file lies in gradtool/paddle
    return os.path.isdir(place) or os.path.isfile(f"{place}.py")


_DISPATCH = "gradtool.paddle._dispatch"
"""The module through which public functions make variables and tensors."""

_MAKERS = ("gradtool.engine.ir.", "gradtool.engine.eager.")
"""Where public names are defined that make them without it."""


def attach(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` for *package*."""
    module = sys.modules.get(package)
    if type(module) is ModuleType and is_paddles(package):
        module.__class__ = Furnished
        for name in fields(module):  # modules of it that it has imported by now
            if (child := sys.modules.get(f"{package}.{name}")) is not None:
                furnish(child)

    def get(name: str) -> Any:
        if name.startswith("_"):
            return _special(package, name, names)
        if name in SUBMODULES.get(package, ()):
            module = importlib.import_module(f"{package}.{name}")
            if "when_imported" in fields(module):
                module.when_imported()
            return module
        where = sources(package).get(name)
        if where is None:
            return fallback(package, name, names)
        value = getattr(importlib.import_module(where), name)
        if _DISPATCH in sys.modules or where.startswith(_MAKERS):
            importlib.import_module("gradtool.paddle._variable_methods")  # whoever makes variables gets their operators
        if type(value) is FunctionType:
            from . import _second_names

            value = _second_names.taking(package, where, name, value)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*SUBMODULES.get(package, ()), *sources(package)})

    return get, names


def _special(package: str, name: str, names: Callable[[], list[str]]) -> Any:
    """Return the value that *package* has under a name that begins with an underscore."""
    if name == "__all__":  # asked for by ``from paddle.io import *``
        from . import _recorded

        return sorted({*names(), *_recorded.of(package).public} - {*SUBMODULES.get(package, ())})
    if name not in PRIVATE.get(package, {}):
        raise AttributeError(name)
    return getattr(importlib.import_module(PRIVATE[package][name]), name)


def fallback(package: str, name: str, names: Callable[[], list[str]]) -> Any:
    """Return the value that Paddle has under a name that no table of the package has; raises the error for what is
    nothing at all.

    Args:
        names: gives the names that the package has, of which the error names those that are near.
    """
    if is_paddles(package):
        from . import _recorded

        value = _recorded.value(package, name)
        if value is not _recorded.MISSING:
            fields(sys.modules[package])[name] = value
            RECORDED.setdefault(package, set()).add(name)
            return value
        if old_path(f"{package}.{name}"):
            return importlib.import_module(f"{package}.{name}")
    if name.startswith("_") or sys._getframe(2).f_code.co_name == "_handle_fromlist":
        raise AttributeError(name)  # an import statement looks for a module of that name next
    raise missing(package, name, names())


def is_of_tables(path: str) -> bool:
    """Return True for a module without a file whose names are those of the tables, and no other ones."""
    package, _, name = path.rpartition(".")
    return name in SUBMODULES.get(package, ()) and not has_file(path)


def is_there(path: str) -> bool:
    """Return True for a module that was imported, has a file, or has the names of the tables."""
    return path in sys.modules or has_file(path) or is_of_tables(path)


def old_path(path: str) -> bool:
    """Return True for a module without a file: of the table of old paths, or of those that are recorded."""
    from . import _old_paths, _recorded

    if is_of_tables(path):
        return True
    return path in _old_paths.HOMES or (_recorded.is_module(path) and not has_file(path))


class _OldPaths:
    """Asks the table of old paths and the record for modules that no folder has; installed once, at the end."""

    @staticmethod
    def find_spec(fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if not fullname.startswith("gradtool.paddle.") or fullname.startswith("gradtool.paddle._old_paths"):
            return None
        from . import _old_paths

        return _old_paths.finder.find_spec(fullname)


sys.meta_path.append(_OldPaths)


def missing(package: str, name: str, names: list[str]) -> AttributeError:
    """The error for a name that gradtool does not have."""
    from gradtool.engine.core.errors import NotImplementedHere

    from . import _absent, _old_paths

    public = package.replace("gradtool.paddle", "paddle", 1)
    homes = (package, *_old_paths.HOMES.get(package, ()))
    reason = next((REASONS[home, name] for home in homes if (home, name) in REASONS), None)
    why, hint = _absent.explained(package, name, reason, names)
    return NotImplementedHere(f"{public}.{name} is not implemented in gradtool{f': {why}' if why else ''}", hint=hint)


def refuse(package: str, namespace: dict[str, object]) -> Callable[[str], Any]:
    """``__getattr__`` for a module that defines its names itself: the error for one that it does not have."""

    def get(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return fallback(package, name, lambda: sorted(n for n in namespace if not n.startswith("_")))

    return get
