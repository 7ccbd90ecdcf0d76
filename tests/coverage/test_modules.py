"""Every module of Paddle that counts is here with every name of it, or the name says why it is not once it is used."""

from __future__ import annotations

import importlib
import subprocess
import sys
import textwrap
from collections import Counter
from typing import Any

import pytest

from gradtool.engine.core.errors import NotImplementedHere
from gradtool.paddle import _absent, _alias, _inside, _lazy, _recorded

REASONS = {
    "it is inside Paddle: ": 1300,
    _absent.INTERNAL: 95,
    _absent.PATCHES: 45,
    _absent.DISTRIBUTED: 650,
    _absent.DEVICES: 220,
    _absent.OTHERS: 80,
    _absent.KERNELS: 50,
    _absent.SERVERS: 45,
    _absent.NARROW: 30,
    _absent.SEQUENCES: 16,
    "a part of Paddle that gradtool does not have": 600,
    "": 60,
}
"""Why names are not here, and how many there may be of each reason at most; the last one is of single names."""


def _missing(module: str) -> list[str]:
    """The names of a module that are stand-ins."""
    home = importlib.import_module(module)
    return [n for n in _recorded.of(module) if isinstance(getattr(home, n), _recorded.NotHere)]


def ours() -> list[str]:
    return [f"gradtool.{path}" for path in _recorded.modules()]


def test_every_name_can_be_had_and_what_is_missing_has_a_reason() -> None:
    counts: Counter[str] = Counter()
    for module in ours():
        for name in _missing(module):
            why = str(_lazy.missing(module, name, [])).partition("is not implemented in gradtool: ")[2]
            assert why, f"{module}.{name} is not here, and nothing says why"
            counts[next(reason for reason in REASONS if reason in why)] += 1
    assert all(counts[reason] <= most for reason, most in REASONS.items()), counts


@pytest.mark.parametrize("family", sorted({path.split(".")[1] for path in _recorded.modules() if "." in path}))
def test_vars_dir_and_import_statements_have_every_name(family: str) -> None:
    with _alias.active():
        for path in _recorded.modules():
            if path.split(".")[1:2] != [family]:
                continue
            module = importlib.import_module(path)
            names = {*_recorded.of(path)}
            assert names <= {*dir(module)}, path
            assert names <= {*vars(module)}, path
            imported: dict[str, Any] = {}
            exec(f"from {path} import {', '.join(sorted(names))}" if names else "", imported)
            assert names <= {*imported}, path


def test_what_a_part_of_paddle_is_for_stands_by_modules_that_there_are() -> None:
    modules = {*_recorded.modules()} | {
        o.module for path in _recorded.modules() for o in _recorded.of(path).origins.values()
    }
    for part in _inside.INSIDE:
        assert any(m == part or m.startswith(part + ".") for m in modules), part


@pytest.mark.parametrize(
    ("module", "name", "said"),
    [
        ("paddle.jit.dy2static.utils", "Backend", "how Paddle makes programs of functions; paddle.jit.to_static"),
        (
            "paddle.static.nn.control_flow",
            "ConditionalBlock",
            "paddle.static.nn.cond, while_loop and switch_case make them",
        ),
        ("paddle.tensor.einsum", "plan_einsum", "paddle.einsum computes it"),
        ("paddle.optimizer.lr", "noam_decay", "paddle.optimizer.lr has a class of each"),
    ],
)
def test_a_name_inside_paddle_says_what_is_used_instead(module: str, name: str, said: str) -> None:
    with _alias.active(), pytest.raises(NotImplementedHere, match=said):
        getattr(importlib.import_module(module), name)()


def test_names_that_one_module_imports_from_another_are_one_object() -> None:
    from gradtool.paddle.nn.layer import activation, rnn

    assert vars(activation)["ReLU"] is importlib.import_module("gradtool.paddle").nn.ReLU
    assert vars(activation)["F"] is importlib.import_module("gradtool.paddle.nn.functional")
    assert activation.Layer is rnn.Layer is importlib.import_module("gradtool.paddle").nn.Layer
    assert vars(rnn)["NON_PERSISTABLE_VAR_NAME_SUFFIX"] == "__non_persistable"
    assert vars(rnn)["np"].__name__ == "numpy"
    assert vars(activation)["TYPE_CHECKING"] is False


def test_a_name_that_is_not_here_is_imported_and_raises_when_it_is_used() -> None:
    with _alias.active():
        from paddle.device import Stream  # type: ignore[import-not-found]
        from paddle.quantization import QAT  # type: ignore[import-not-found]

    with pytest.raises(NotImplementedHere, match=r"paddle\.device\.Stream is not implemented in gradtool: .* devices"):
        Stream()
    with pytest.raises(NotImplementedHere, match=r"paddle\.quantization\.QAT is not implemented .*quantised models"):
        QAT.quantize  # noqa: B018
    for use in (len, int, iter, float, abs):
        with pytest.raises(NotImplementedHere):
            use(Stream)
    assert not isinstance(3, Stream)
    assert repr(Stream) == "<paddle.device.Stream, which is not in gradtool>"
    hint: Any = Stream | None
    assert hint

    class Own(Stream):  # type: ignore[misc]  # as models do at their top
        pass

    with pytest.raises(NotImplementedHere, match=r"paddle\.device\.Stream"):
        Own()


def test_what_is_no_module_stays_when_a_module_of_its_name_is_imported() -> None:
    import gradtool.paddle.amp.auto_cast
    import gradtool.paddle.distributed.fleet.fleet
    import gradtool.paddle.onnx.export

    assert type(gradtool.paddle.distributed.fleet.fleet).__name__ == "Fleet"  # type: ignore[comparison-overlap]
    assert gradtool.paddle.amp.auto_cast.__name__ == "auto_cast"
    assert isinstance(gradtool.paddle.onnx.export, _recorded.NotHere)


def test_classes_of_a_module_are_found_as_registries_find_them() -> None:
    from gradtool import paddle

    found = [
        v for v in vars(paddle.optimizer).values() if isinstance(v, type) and issubclass(v, paddle.optimizer.Optimizer)
    ]
    assert {paddle.optimizer.Adam, paddle.optimizer.SGD, paddle.optimizer.Lamb} < {*found}


def test_gradtools_own_look_at_a_module_loads_nothing() -> None:
    """Only a user's ``vars`` fills a module: in a process of its own, as other tests fill all of them."""
    script = """if True:
        import gradtool, sys
        from gradtool.paddle import _lazy
        held = len(_lazy.fields(gradtool.paddle.nn))
        assert "gradtool.paddle.nn._transformer" not in sys.modules
        assert "gradtool.paddle._recorded" not in sys.modules
        assert len(vars(gradtool.paddle.nn)) > held + 100
    """
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize(
    ("name", "home"),
    [
        ("hapi.hub.load", "hub.load"),
        ("dataset.flowers.map_readers", "reader.map_readers"),
        ("amp.grad_scaler.check_type", "base.data_feeder.check_type"),
    ],
)
def test_a_name_is_there_whatever_was_imported_before(name: str, home: str) -> None:
    """The first who asks is a fresh process: where its home is a file that nobody has imported yet, it is imported."""
    (module, last), (place, own) = (path.rsplit(".", 1) for path in (name, home))
    script = f"""
        import importlib
        asked = getattr(importlib.import_module("gradtool.paddle.{module}"), "{last}")
        assert asked is getattr(importlib.import_module("gradtool.paddle.{place}"), "{own}"), asked
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True)
