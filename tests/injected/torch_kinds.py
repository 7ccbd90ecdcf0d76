"""Kinds of faults in programs of PyTorch, with the sites of :mod:`.kinds` where both frameworks write alike."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from . import kinds
from .kinds import BORN, CUT, DETACHED, ENORMOUS, FLAT, PART, ZERO, Kind, Sites, rewritten, statement, term, use
from .text import Edit, Text, inside

OPTIMIZERS = (
    *("SGD", "Adam", "AdamW", "Adamax", "Adagrad", "Adadelta", "RMSprop", "NAdam", "RAdam", "SparseAdam", "LBFGS"),
)
SCHEDULERS = r"(?:StepLR|MultiStepLR|ExponentialLR|CosineAnnealing\w+|LambdaLR|OneCycleLR|LinearLR|PolynomialLR)\("
SCORES = ("cross_entropy", "CrossEntropyLoss")
SIGMOIDS = ("binary_cross_entropy_with_logits", "BCEWithLogitsLoss")
DISTANCES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss")


def assignments(text: Text) -> Iterator[ast.Assign]:
    """Yield the statements on one line, of functions and of the module, that give one name to one computed value."""
    for node in text.all(ast.Assign):
        assert isinstance(node, ast.Assign)
        named = len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
        function = inside(node, ast.FunctionDef)
        if not named or node.lineno != node.end_lineno or getattr(function, "name", "") == "__init__":
            continue
        if isinstance(node.value, ast.Call | ast.BinOp) and not kinds._is_without_gradients(node):
            yield node


# -- updates -----------------------------------------------------------------------------------------------------------


def optimizers(text: Text) -> Iterator[tuple[ast.Call, ast.Assign, str]]:
    """Yield calls that make an optimizer of parameters, the statement of each, and the network that it takes."""
    for node in text.all(ast.Call):
        assert isinstance(node, ast.Call)
        if ast.unparse(node.func).rpartition(".")[2] not in OPTIMIZERS or not node.args:
            continue
        whole = inside(node, ast.stmt)
        if isinstance(whole, ast.Assign) and whole.value is node:
            net = re.fullmatch(r"((?:self\.)?\w+)\.parameters\(\)", text.of(node.args[0]))
            yield node, whole, net[1] if net else ""


def optimizer_names(text: Text) -> set[str]:
    """Return the names that optimizers are given."""
    return {ast.unparse(whole.targets[0]) for _, whole, _ in optimizers(text)}


def parameters_as(template: str) -> Sites:
    """Return the sites where an optimizer's parameters are written as *template* says; ``NET`` is its network."""

    def sites(text: Text) -> Iterator[Edit]:
        for call, _, net in optimizers(text):
            if net and not (net == "self" and "NET" in template):
                edit = text.put(call.args[0], template.replace("NET", net))
                yield replace(edit, other=(*edit.other, call.lineno))

    return sites


def rate(value: str) -> Sites:
    """Return the sites where an optimizer's learning rate is *value*."""

    def sites(text: Text) -> Iterator[Edit]:
        for call, *_ in optimizers(text):
            rates = [k.value for k in call.keywords if k.arg == "lr"] or call.args[1:2]
            if rates:
                edit = text.put(rates[0], value)
                yield replace(edit, other=(*edit.other, call.lineno))

    return sites


def after_optimizer(template: str) -> Sites:
    """Return the sites where a statement follows the one that makes an optimizer; ``NET`` is its network."""

    def sites(text: Text) -> Iterator[Edit]:
        for _, whole, net in optimizers(text):
            if net:
                yield text.after(whole, template.replace("NET", net))

    return sites


def before_optimizer(template: str) -> Sites:
    """Return the sites where a statement stands before the one that makes an optimizer; ``NET`` is its network."""

    def sites(text: Text) -> Iterator[Edit]:
        for _, whole, net in optimizers(text):
            if net:
                edit = text.before(whole, template.replace("NET", net))
                yield replace(edit, other=(edit.line + 1,))

    return sites


LAYER = r"self\.(\w+) = (?:nn|torch\.nn)\.(?:Linear|Conv2d|Embedding)\("


def layer_after_optimizer(template: str) -> Sites:
    """Return the sites where a layer changes after the optimizer is made; ``LAYER`` is the layer."""

    def sites(text: Text) -> Iterator[Edit]:
        for _, whole, net in optimizers(text):
            for layer in re.findall(LAYER, text.source):
                if net:
                    yield text.after(whole, template.replace("LAYER", f"{net}.{layer}"))

    return sites


def call_of_optimizer(method: str, template: str) -> Sites:
    """Return the sites where ``NAME.method()`` of an optimizer, or zero_grad of a network, is written otherwise."""

    def sites(text: Text) -> Iterator[Edit]:
        names = optimizer_names(text)
        for node in text.all(ast.Expr):
            assert isinstance(node, ast.Expr)
            call = node.value
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != method:
                continue
            name = text.of(call.func.value)
            if (name in names and not call.args) or method == "zero_grad":
                edit = text.put(node, template.replace("NAME", name))
                yield Edit(edit.cuts, edit.line, [*edit.other, *related(text, node, name)])

    return sites


def related(text: Text, node: ast.stmt, name: str) -> list[int]:
    """Return the lines that a finding about an absent call may name: of the optimizer, of backward, of step."""
    return [
        *kinds._related(text, node, name),
        *(call.lineno for call, whole, _ in optimizers(text) if ast.unparse(whole.targets[0]) == name),
    ]


def step_before_backward(text: Text) -> Iterator[Edit]:
    """Yield a step that stands before the backward call of its loop."""
    names = optimizer_names(text)
    for node in text.all(ast.Expr):
        assert isinstance(node, ast.Expr)
        around = getattr(node, "parent", None)
        if not re.fullmatch(r"\w+\.backward\(\)", ast.unparse(node)) or not isinstance(
            around, ast.For | ast.FunctionDef
        ):
            continue
        later = [s for s in around.body if s.lineno > node.lineno and isinstance(s, ast.Expr)]
        for step in later:
            name = ast.unparse(step)[: -len(".step()")]
            if ast.unparse(step).endswith(".step()") and name in names:
                edits = [text.put(node, f"{name}.step(); {{}}"), text.put(step, "pass")]
                cuts = [cut for edit in edits for cut in edit.cuts]
                yield Edit(cuts, node.lineno, [step.lineno, *related(text, node, name)])
                break


def clip_to_zero(text: Text) -> Iterator[Edit]:
    """Yield a step after gradients that are clipped to nothing."""
    for edit in call_of_optimizer("step", "NAME.step()")(text):
        start, end, _ = edit.cuts[0]
        name = text.source[start:end].removesuffix(".step()")
        words = (
            f"torch.nn.utils.clip_grad_norm_([p for g in {name}.param_groups for p in g['params']], 0.0); {name}.step()"
        )
        yield Edit([(start, end, words)], edit.line, edit.other)


def loss_statement(template: str) -> Sites:
    """Return the sites where the statement that calls ``backward`` of a name is written as *template* says."""
    return kinds.call_of("backward", template)


def schedule_never_stepped(text: Text) -> Iterator[Edit]:
    """Yield a schedule whose steps are left out."""
    named = re.findall(rf"(\w+) = (?:\w+\.)*{SCHEDULERS}", text.source)
    for node in text.all(ast.Expr):
        assert isinstance(node, ast.Expr)
        name = re.fullmatch(r"(\w+)\.step\(\)", ast.unparse(node))
        if name and name[1] in named:
            made = [text.source[: m.start()].count("\n") + 1 for m in re.finditer(rf"\b{name[1]} = ", text.source)]
            yield replace(text.put(node, "pass"), other=[*made, *related(text, node, name[1])])


# -- modes, losses and the flow of information -------------------------------------------------------------------------


def loss_arguments(functions: Sequence[str], position: int, template: str) -> Sites:
    """Return the sites where an argument of a loss, or of a module that is one, is written as *template* says."""

    def sites(text: Text) -> Iterator[Edit]:
        named = {
            ast.unparse(n.targets[0])
            for n in text.all(ast.Assign)
            if isinstance(n, ast.Assign)
            and isinstance(n.value, ast.Call)
            and ast.unparse(n.value.func).rpartition(".")[2] in functions
        }
        for node in text.all(ast.Call):
            assert isinstance(node, ast.Call)
            name = ast.unparse(node.func)
            is_one = name in named or (name.rpartition(".")[2] in functions and "Loss" not in name)
            if is_one and len(node.args) > position:
                edit = text.put(node.args[position], template)
                yield Edit(edit.cuts, edit.line, range(node.lineno, (node.end_lineno or node.lineno) + 1), edit.value)

    return sites


def lines_as(pattern: str, replacement: str) -> Sites:
    """Return the sites where a line is changed by a regular expression."""

    def sites(text: Text) -> Iterator[Edit]:
        at = 0
        for number, line in enumerate(text.source.splitlines(keepends=True), 1):
            new, count = re.subn(pattern, replacement, line, count=1)
            if count and new != line:
                yield Edit([(at, at + len(line), new)], number, _uses(text, number))
            at += len(line)

    return sites


def _uses(text: Text, line: int) -> list[int]:
    """Return the lines that read what a statement on *line* keeps in ``self``."""
    statements = (n for n in text.all(ast.stmt) if getattr(n, "lineno", 0) == line)
    return [n for statement in statements for n in kinds.lines_of_use(text, statement)]


def transposes(text: Text) -> Iterator[Edit]:
    """Yield ``x.transpose(1, 2)`` and ``x.permute(…)`` written as a reshape to the same shape."""
    for node in text.all(ast.Call):
        assert isinstance(node, ast.Call)
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("transpose", "permute") and node.args:
            whole = text.of(node)
            yield text.put(node, f"({text.of(node.func.value)}).reshape(({whole}).shape)")


def label_in_input(text: Text) -> Iterator[Edit]:
    """Yield a classifier whose label is added to its input."""
    for edit in loss_arguments(SCORES, 0, "{}")(text):
        start, end, _ = edit.cuts[0]
        call = next(
            n for n in text.all(ast.Call) if isinstance(n, ast.Call) and n.args and text.span(n.args[0]) == (start, end)
        )
        scores = call.args[0]
        if len(call.args) > 1 and isinstance(scores, ast.Call) and len(scores.args) == 1:
            x = text.of(scores.args[0])
            label = text.of(call.args[1])
            yield text.put(scores.args[0], f"{{}} + {label}.float().reshape([-1] + [1] * ({x}.ndim - 1))")


NOTED = ("GT112",)
PROBABILITIES = "torch.softmax({}, -1)"


def cut(name: str, sites: Sites, says: str = DETACHED) -> Kind:
    """Return a kind that cuts the way of gradients, wholly or in part."""
    return Kind(name, "cut", (*CUT, *PART), sites, notes=NOTED, says=says)


TORCH_KINDS: Sequence[Kind] = (
    cut("detach", rewritten("({}).detach()", assignments)),
    cut("numpy", rewritten("torch.from_numpy(({}).detach().numpy())", assignments)),
    cut("new_tensor", rewritten("torch.tensor(({}).tolist())", assignments)),
    cut("data", rewritten("({}).data", assignments)),
    cut("detach_clone", statement("NAME = NAME.detach().clone()", assignments)),
    cut("no_grad", statement("with torch.no_grad(): {}", assignments), "no_grad"),
    cut(
        "set_grad_enabled", statement("with torch.set_grad_enabled(False): {}", assignments), "no_grad|set_grad_enabled"
    ),
    cut("integer", rewritten("({}).int().float()", assignments), "integer|whole numbers|int"),
    Kind("compared", "cut", FLAT, rewritten("(({}) > 0).float()", assignments)),
    Kind(
        "argmax",
        "cut",
        (*CUT, "GT111"),
        rewritten("({}).argmax(-1, keepdim=True).float() + torch.zeros_like({})", assignments),
    ),
    Kind("zeros_like", "cut", (*CUT, *ZERO), rewritten("torch.zeros_like({})", assignments)),
    Kind("result_thrown_away", "cut", (*CUT, "GT113"), kinds.thrown_away),
    Kind("layer_bypassed", "cut", CUT, kinds.bypassed, anywhere=True),
    Kind("term_detached", "partial", (*CUT, "GT111"), term("({}).detach()"), says=DETACHED),
    Kind("term_item", "partial", (*CUT, "GT111"), term("({}).item()"), says=DETACHED),
    Kind("use_detached", "partial", (*CUT, *PART), use("{}.detach()"), notes=NOTED, says=DETACHED),
    Kind("use_data", "partial", (*CUT, *PART), use("{}.data"), notes=NOTED, says=DETACHED),
    Kind("operand_detached", "partial", (*CUT, *PART), kinds.operand("({}).detach()"), notes=NOTED, says=DETACHED),
    Kind("round", "zero", FLAT, rewritten("torch.round({})", assignments)),
    Kind("sign", "zero", FLAT, rewritten("torch.sign({})", assignments)),
    Kind("times_zero", "zero", (*ZERO, *PART), rewritten("({}) * 0.0", assignments), notes=NOTED, says="zero|flat"),
    Kind("term_times_zero", "zero", (*ZERO, "GT111"), term("({}) * 0.0")),
    Kind("clamped", "zero", ZERO, rewritten("torch.clamp({}, 1e6, 2e6)", assignments)),
    Kind("dead_relu", "zero", ZERO, rewritten("torch.relu(({}) - 1e3)", assignments)),
    Kind("saturated_sigmoid", "zero", ZERO, rewritten("torch.sigmoid(({}) + 1e3)", assignments)),
    Kind("dropout_of_all", "zero", ZERO, kinds.argument(("Dropout",), 0, "1.0")),
    Kind("log_of_zero", "number", BORN, rewritten("torch.log(({}) * 0.0)", assignments)),
    Kind("root_of_negative", "number", BORN, rewritten("torch.sqrt(-torch.abs({}) - 1.0)", assignments)),
    Kind("root_at_zero", "number", (*BORN, "GT209"), rewritten("torch.sqrt(({}) * 0.0)", assignments)),
    Kind("zero_times_infinity", "number", BORN, rewritten('({}) * 0.0 * float("inf")', assignments)),
    Kind("division_by_zero", "number", BORN, rewritten("({}) / (({}) * 0.0)", assignments)),
    Kind("exp_overflow", "number", BORN, rewritten("torch.exp(torch.abs({}) * 1e6 + 1e3)", assignments)),
    Kind("vanishing", "number", ("GT204", *ZERO), rewritten("({}) * 1e-30", assignments)),
    Kind("exploding", "number", (*BORN, "GT203", "GT704"), rewritten("({}) * 1e30", assignments), says=ENORMOUS),
    Kind("first_layers_not_listed", "update", ("GT701",), parameters_as("list({})[2:]")),
    Kind("last_layer_not_listed", "update", ("GT701",), parameters_as("list({})[:-2]")),
    Kind("copy_listed", "update", ("GT701", "GT702"), parameters_as('__import__("copy").deepcopy(NET).parameters()')),
    Kind("layer_replaced", "update", ("GT701",), layer_after_optimizer('LAYER = __import__("copy").deepcopy(LAYER)')),
    Kind(
        "parameter_remade",
        "update",
        ("GT701",),
        layer_after_optimizer("LAYER.weight = torch.nn.Parameter(LAYER.weight.detach().clone())"),
    ),
    Kind("plain_list", "update", ("GT701", "GT101", "GT103"), lines_as(r"nn\.ModuleList\(", "list(")),
    Kind(
        "first_layer_frozen",
        "update",
        ("GT105", "GT110"),
        before_optimizer("for p in list(NET.parameters())[:2]: p.requires_grad = False"),
        notes=("GT105", "GT110"),
    ),
    Kind("rate_of_zero", "update", ("GT702",), rate("0.0")),
    Kind("huge_rate", "update", ("GT716", "GT705", "GT703", "GT203", "GT715", *BORN), rate("1e12")),
    Kind("no_step", "update", ("GT702",), call_of_optimizer("step", "pass")),
    Kind(
        "cleared_before_step",
        "update",
        ("GT711", "GT702", "GT205"),
        call_of_optimizer("step", "NAME.zero_grad(); NAME.step()"),
    ),
    Kind("step_before_backward", "update", ("GT711", "GT702", "GT710"), step_before_backward),
    Kind("never_cleared", "update", ("GT106", "GT710"), call_of_optimizer("zero_grad", "pass")),
    Kind("clipped_to_zero", "update", ("GT702", "GT712"), clip_to_zero),
    Kind(
        "hook_of_zeros",
        "update",
        (*ZERO, "GT702"),
        after_optimizer("[p.register_hook(lambda g: g * 0.0) for p in NET.parameters()]"),
    ),
    Kind("gradient_of_zeros", "update", ZERO, loss_statement("NAME.backward(torch.zeros_like(NAME))")),
    Kind("loss_times_zero", "update", ZERO, loss_statement("(NAME * 0.0).backward()")),
    Kind(
        "detached_loss",
        "update",
        (*CUT, "GT108"),
        loss_statement("torch.tensor(NAME.item(), requires_grad=True).backward()"),
    ),
    Kind("schedule_never_stepped", "update", ("GT717",), schedule_never_stepped),
    Kind("evaluation_mode", "update", ("GT707", "GT718"), lines_as(r"(\w+)\.train\(\)", r"\1.eval()"), anywhere=True),
    Kind(
        "losses_kept",
        "memory",
        ("GT713",),
        loss_statement("globals().setdefault('history', []).append(NAME + 0); {}"),
        effect="memory",
    ),
    Kind("backward_twice", "error", ("GT108",), loss_statement("{}; {}"), effect="raises"),
    Kind("in_place_on_saved", "error", ("GT108",), statement("NAME += 1", assignments), effect="raises"),
    Kind("probabilities_as_scores", "loss", ("GT708",), loss_arguments(SCORES, 0, PROBABILITIES)),
    Kind("sigmoid_twice", "loss", ("GT708",), loss_arguments(SIGMOIDS, 0, "torch.sigmoid({})")),
    Kind("targets_broadcast", "loss", ("GT706",), loss_arguments(DISTANCES, 1, "({}).flatten()")),
    Kind("huge_scores", "loss", ("GT704", "GT203", *ZERO), loss_arguments(SCORES, 0, "({}) * 1e4")),
    Kind(
        "softmax_over_batch",
        "flow",
        ("GT601",),
        lines_as(r"(F|torch)\.softmax\((.+), dim=-?1\)", r"\1.softmax(\2, dim=0)"),
    ),
    Kind("reshape_for_transpose", "flow", ("GT601", "GT602", "GT603", "GT606"), transposes),
    Kind("centred_over_batch", "flow", ("GT601",), rewritten("({}) - ({}).mean(0, keepdim=True)", assignments)),
    Kind("no_causal_mask", "flow", ("GT602",), lines_as(r"is_causal=True", "is_causal=False")),
    Kind(
        "mask_one_step_off",
        "flow",
        ("GT602",),
        lines_as(r"(torch\.tril\(torch\.ones\([^()]*(?:\([^()]*\)[^()]*)*\))\)", r"\1, diagonal=1)"),
    ),
    Kind("mask_forgotten", "flow", ("GT602",), lines_as(r"\w*mask=(?!None)[\w.\[\]:, ]+\)", "mask=None)")),
    Kind("label_in_input", "flow", ("GT605",), label_in_input),
)
"""Every kind; tables keep this order."""
