"""Kinds of faults: where a program can have one, how its text changes, and which findings name it."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from .text import Edit, Text, inside

CUT = ("GT102", "GT103", "GT104", "GT101")
PART = ("GT111", "GT112")
"""Where another way remains: a term of the loss that gives nothing, or a use of a tensor, which is a note."""
DETACHED = r"detached|as plain values|as a Python number"
"""Words about values that left the graph, whichever way."""
ENORMOUS = r"e\+[23]\d|inf|nan|NaN"
"""A number that a factor of 1e30 leads to."""
ZERO = ("GT205", "GT206", "GT208")
BORN = ("GT201", "GT202")
FLAT = ("GT104", "GT205", "GT206", "GT103")
OPTIMIZERS = ("SGD", "Momentum", "Adam", "AdamW", "Adamax", "Adagrad", "RMSProp", "Adadelta", "Lamb")

Sites = Callable[[Text], Iterator[Edit]]


@dataclass(frozen=True)
class Kind:
    """A kind of fault.

    Attributes:
        name: what the tables call it.
        family: ``cut``, ``partial``, ``zero``, ``number``, ``update``, ``loss`` or ``flow``.
        accepts: codes of findings that name the cause.
        sites: yields each edit that puts it into a program.
        notes: codes of notes that name it, of what is often meant.
        anywhere: whether no line of the program is wrong, since one is missing: a finding at any line names it.
        effect: what shows that it is one: ``training`` that differs, an error that ``raises``, or ``memory``, where the
            training is equal.
    """

    name: str
    family: str
    accepts: Sequence[str]
    sites: Sites
    anywhere: bool = False
    notes: Sequence[str] = ()
    says: str = ""
    effect: str = "training"


# -- where a value is made ---------------------------------------------------------------------------------------------


def _is_tensor(node: ast.expr) -> bool:
    """Return whether an expression looks like a tensor that layers or functions compute."""
    if isinstance(node, ast.BinOp):
        return _is_tensor(node.left) or _is_tensor(node.right)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    path = ast.unparse(node.func)
    if re.search(r"\.(shape|item|numpy|randn?|randint|to_tensor|zeros|ones|arange|data|full|parameters)$", path):
        return False
    if re.search(r"(?i)optimizer|Layer|random|Linear|Conv|Norm|Embedding|append|LSTM|GRU|np\.|json|os\.", path):
        return False
    return bool(re.match(r"(self|F|nn\.functional|paddle|static\.nn|[a-z_]+)\.", path))


def _is_without_gradients(node: ast.AST) -> bool:
    """Return whether a statement stands in a function or block under ``no_grad``."""
    around = getattr(node, "parent", None)
    while around is not None:
        heads = list(getattr(around, "decorator_list", []))
        heads += [i.context_expr for i in getattr(around, "items", [])]
        if any("no_grad" in ast.unparse(head) for head in heads):
            return True
        around = getattr(around, "parent", None)
    return False


def made(text: Text) -> Iterator[ast.Assign]:
    """Yield the statements inside of functions that give one name to one computed tensor."""
    for node in text.all(ast.Assign):
        assert isinstance(node, ast.Assign)
        function = inside(node, ast.FunctionDef)
        named = len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
        in_model = isinstance(function, ast.FunctionDef) and function.name not in ("__init__", "main")
        in_model = in_model and not _is_without_gradients(node)
        if named and in_model and node.lineno == node.end_lineno and _is_tensor(node.value):
            yield node


def returned(text: Text) -> Iterator[ast.Return]:
    """Yield the statements that return one computed tensor from a method ``forward``."""
    for node in text.all(ast.Return):
        assert isinstance(node, ast.Return)
        function = inside(node, ast.FunctionDef)
        in_forward = isinstance(function, ast.FunctionDef) and function.name == "forward"
        if in_forward and node.value is not None and node.lineno == node.end_lineno and _is_tensor(node.value):
            yield node


def rewritten(template: str, where: Callable[[Text], Iterator[ast.Assign]] = made) -> Sites:
    """Return the sites where the value of a tensor is written as *template* says."""

    def sites(text: Text) -> Iterator[Edit]:
        for node in [*where(text), *returned(text)]:
            assert node.value is not None
            yield text.put(node.value, template)

    return sites


def statement(template: str, where: Callable[[Text], Iterator[ast.Assign]] = made) -> Sites:
    """Return the sites where a statement that makes a tensor is followed by another, or stands in one.

    Args:
        template: ``{}`` stands for the statement, ``NAME`` for the name that it gives, ``VALUE`` for its value.
        where: yields the statements.
    """

    def sites(text: Text) -> Iterator[Edit]:
        for node in where(text):
            target = node.targets[0]
            assert isinstance(target, ast.Name)
            words = template.replace("NAME", target.id).replace("VALUE", text.of(node.value))
            yield text.put(node, words) if "{}" in words or "VALUE" in template else text.after(node, words)

    return sites


def thrown_away(text: Text) -> Iterator[Edit]:
    """Yield ``x = f(x)`` written as ``f(x)``."""
    for node in made(text):
        target = node.targets[0]
        assert isinstance(target, ast.Name)
        if any(isinstance(n, ast.Name) and n.id == target.id for n in ast.walk(node.value)):
            yield text.put(node, text.of(node.value))


def bypassed(text: Text) -> Iterator[Edit]:
    """Yield ``h = self.f(x)`` written as ``h = x``."""
    for node in made(text):
        value = node.value
        one = isinstance(value, ast.Call) and len(value.args) == 1 and not isinstance(value.args[0], ast.Starred)
        if one and isinstance(value, ast.Call) and ast.unparse(value.func).startswith("self."):
            yield text.put(value, text.of(value.args[0]))


# -- one way among several ---------------------------------------------------------------------------------------------


def _terms(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        return [*_terms(node.left), *_terms(node.right)]
    return [node]


def term(template: str) -> Sites:
    """Return the sites where one term of a loss of several is written as *template* says."""

    def sites(text: Text) -> Iterator[Edit]:
        for node in [*text.all(ast.Assign), *text.all(ast.Return), *text.all(ast.AugAssign)]:
            assert isinstance(node, ast.Assign | ast.Return | ast.AugAssign)
            where = ast.unparse(node.targets[0]) if isinstance(node, ast.Assign) else ""
            where = ast.unparse(node.target) if isinstance(node, ast.AugAssign) else where
            function = inside(node, ast.FunctionDef)
            is_loss = "loss" in where or (isinstance(node, ast.Return) and getattr(function, "name", "") == "loss")
            if not is_loss or node.value is None:
                continue
            terms = _terms(node.value)
            if isinstance(node, ast.AugAssign) or len(terms) > 1:
                for one in terms:
                    if not isinstance(one, ast.Constant):
                        yield text.put(one, template)

    return sites


def use(template: str) -> Sites:
    """Return the sites where one of several uses of a computed tensor is written as *template* says."""

    def sites(text: Text) -> Iterator[Edit]:
        for node in made(text):
            function, target = inside(node, ast.FunctionDef), node.targets[0]
            assert isinstance(target, ast.Name)
            assert function is not None
            loads = [
                n
                for n in ast.walk(function)
                if isinstance(n, ast.Name)
                and n.id == target.id
                and isinstance(n.ctx, ast.Load)
                and not isinstance(n.parent, ast.Attribute)  # type: ignore[attr-defined]
                and n.lineno > node.lineno
            ]
            if len(loads) > 1:
                yield from (text.put(n, template) for n in loads)

    return sites


def operand(template: str) -> Sites:
    """Return the sites where one side of a sum, or one entry of a joined list, is written as *template* says."""

    def sites(text: Text) -> Iterator[Edit]:
        for node in text.nodes:
            function = inside(node, ast.FunctionDef)
            if getattr(function, "name", "") != "forward":
                continue
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
                yield from (text.put(side, template) for side in (node.left, node.right) if _is_tensor(side))
            elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("paddle.concat", "paddle.stack"):
                entries = node.args[0].elts if node.args and isinstance(node.args[0], ast.List | ast.Tuple) else []
                yield from (text.put(e, template) for e in entries if not isinstance(e, ast.Starred))

    return sites


# -- updates -----------------------------------------------------------------------------------------------------------


def _optimizers(text: Text) -> Iterator[tuple[ast.Call, ast.stmt, str, str]]:
    """Yield calls that make an optimizer: the call, its statement, the name given, the name of the network."""
    for node in text.all(ast.Call):
        assert isinstance(node, ast.Call)
        if not isinstance(node.func, ast.Attribute) or node.func.attr not in OPTIMIZERS:
            continue
        listed = [k.value for k in node.keywords if k.arg == "parameters"]
        net = re.fullmatch(r"(\w+)\.parameters\(\)", text.of(listed[0])) if listed else None
        whole = inside(node, ast.stmt)
        if (
            isinstance(whole, ast.Assign)
            and isinstance(whole.targets[0], ast.Name)
            and isinstance(whole.value, ast.Call)
        ):
            yield node, whole, whole.targets[0].id, net[1] if net else ""


def listed(template: str) -> Sites:
    """Return the sites where an optimizer's list of parameters is written as *template* says."""

    def sites(text: Text) -> Iterator[Edit]:
        for call, *_ in _optimizers(text):
            edits = (text.put(k.value, template) for k in call.keywords if k.arg == "parameters")
            yield from (replace(edit, other=(*edit.other, call.lineno)) for edit in edits)

    return sites


def rate(value: str) -> Sites:
    """Return the sites where an optimizer's learning rate is *value*."""

    def sites(text: Text) -> Iterator[Edit]:
        for call, *_ in _optimizers(text):
            rates = [k.value for k in call.keywords if k.arg == "learning_rate"] or call.args[:1]
            if rates:
                edit = text.put(rates[0], value)
                yield replace(edit, other=(*edit.other, call.lineno))
            else:
                start, _ = text.span(call.func)
                end = start + len(text.of(call.func)) + 1
                yield Edit([(end, end, f"learning_rate={value}, ")], call.lineno)

    return sites


def keyword(words: str) -> Sites:
    """Return the sites where the call that makes an optimizer has one more keyword."""

    def sites(text: Text) -> Iterator[Edit]:
        for call, *_ in _optimizers(text):
            if all(k.arg != words.partition("=")[0] for k in call.keywords) and (call.args or call.keywords):
                _, end = text.span(call)
                comma = "" if text.source[: end - 1].rstrip().endswith(",") else ", "
                yield Edit(
                    [(end - 1, end - 1, f"{comma}{words}")], call.lineno, range(call.lineno, call.end_lineno or 0)
                )

    return sites


def after_optimizer(template: str) -> Sites:
    """Return the sites where a statement follows the one that makes an optimizer; ``NET`` is its network."""

    def sites(text: Text) -> Iterator[Edit]:
        for _, whole, _, net in _optimizers(text):
            if net:
                yield text.after(whole, template.replace("NET", net))

    return sites


def head_replaced(text: Text) -> Iterator[Edit]:
    """Yield a layer that is replaced by a copy after the optimizer was made."""
    layers = re.findall(r"self\.(\w+) = nn\.(?:Linear|Conv2D|Embedding)\(", text.source)
    for _, whole, _, net in _optimizers(text):
        for layer in layers:
            if net:
                yield text.after(whole, f'{net}.{layer} = __import__("copy").deepcopy({net}.{layer})')


def call_of(method: str, template: str) -> Sites:
    """Return the sites where a statement ``NAME.method()`` is written as *template* says; ``NAME`` is the object."""

    def sites(text: Text) -> Iterator[Edit]:
        for node in text.all(ast.Expr):
            assert isinstance(node, ast.Expr)
            call = node.value
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == method:
                name = text.of(call.func.value)
                if not call.args:
                    edit = text.put(node, template.replace("NAME", name))
                    yield Edit(edit.cuts, edit.line, [*edit.other, *_related(text, node, name)])

    return sites


def _related(text: Text, node: ast.stmt, name: str) -> list[int]:
    """Return the lines that a finding about an absent call may name: of the optimizer, of backward, of step."""
    lines = [call.lineno for call, _, given, _ in _optimizers(text) if given == name]
    body = inside(node, ast.For) or inside(node, ast.FunctionDef) or text.tree
    for n in ast.walk(body):
        if isinstance(n, ast.Attribute) and n.attr in ("backward", "step", "clear_grad", "zero_grad", "minimize"):
            lines.append(n.lineno)
    return lines


def given_zeros(text: Text) -> Iterator[Edit]:
    """Yield a backward call that is given zeros."""
    yield from call_of("backward", "NAME.backward(paddle.zeros_like(NAME))")(text)


# -- losses ------------------------------------------------------------------------------------------------------------


def argument(functions: Sequence[str], position: int, template: str) -> Sites:
    """Return the sites where an argument of a call of one of these functions is written as *template* says."""

    def sites(text: Text) -> Iterator[Edit]:
        for node in text.all(ast.Call):
            assert isinstance(node, ast.Call)
            name = ast.unparse(node.func).rpartition(".")[2]
            if name in functions and len(node.args) > position and "." in ast.unparse(node.func):
                edit = text.put(node.args[position], template)
                lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
                yield Edit(edit.cuts, edit.line, [*lines, *lines_of_use(text, node)])

    return sites


def lines_of_use(text: Text, node: ast.AST) -> list[int]:
    """Return the lines that read what the statement around *node* keeps in ``self``: a layer, a buffer."""
    whole = node if isinstance(node, ast.stmt) else inside(node, ast.stmt) or node
    kept = re.match(r"self\.(?:(\w+) = |register_buffer\(['\"](\w+)['\"])", ast.unparse(whole))
    name = (kept[1] or kept[2]) if kept else ""
    read = (n for n in text.all(ast.Attribute) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load))
    return [n.lineno for n in read if n.attr == name]


def called(pattern: str, replacement: str) -> Sites:
    """Return the sites where the text of a call is changed by a regular expression."""

    def sites(text: Text) -> Iterator[Edit]:
        for node in text.all(ast.Call):
            assert isinstance(node, ast.Call)
            old = text.of(node)
            new, count = re.subn(pattern, replacement, old, count=1, flags=re.DOTALL)
            if count and new != old:
                start, end = text.span(node)
                yield Edit([(start, end, new)], node.lineno, range(node.lineno, (node.end_lineno or 0) + 1))

    return sites


def softmax_axis(text: Text) -> Iterator[Edit]:
    """Yield a softmax over the first axis, in ``forward``."""
    for node in text.all(ast.Call):
        assert isinstance(node, ast.Call)
        if (
            ast.unparse(node.func) in ("F.softmax", "paddle.nn.functional.softmax", "nn.functional.softmax")
            and node.args
        ):
            function = inside(node, ast.FunctionDef)
            if getattr(function, "name", "") not in ("main", ""):
                yield text.put(node, f"{text.of(node.func)}({text.of(node.args[0])}, axis=0)")


def reshaped(text: Text) -> Iterator[Edit]:
    """Yield ``x.transpose([0, 2, 1])`` written as a reshape to the same shape."""
    for node in text.all(ast.Call):
        assert isinstance(node, ast.Call)
        if not isinstance(node.func, ast.Attribute) or node.func.attr != "transpose" or not node.args:
            continue
        where, order = (node.func.value, node.args[0]) if len(node.args) == 1 else (node.args[0], node.args[-1])
        if isinstance(order, ast.List) and len(node.args) in (1, 2):
            axes = [ast.unparse(e) for e in order.elts]
            value = f"({text.of(where)})"
            shape = ", ".join(f"{value}.shape[{axis}]" for axis in axes)
            yield text.put(node, f"{value}.reshape([{shape}])")


def label_in_input(text: Text) -> Iterator[Edit]:
    """Yield a classifier whose label is added to its input."""
    for node in text.all(ast.Call):
        assert isinstance(node, ast.Call)
        if ast.unparse(node.func) != "F.cross_entropy" or len(node.args) < 2:
            continue
        scores, label = node.args[0], text.of(node.args[1])
        if isinstance(scores, ast.Call) and len(scores.args) == 1 and isinstance(scores.args[0], ast.Name):
            x = scores.args[0].id
            flat = f'{label}.astype("float32").reshape([-1] + [1] * ({x}.ndim - 1))'
            yield text.put(scores.args[0], f"{{}} + {flat}")


PROBABILITIES = "paddle.nn.functional.softmax({})"

KINDS: Sequence[Kind] = (
    Kind("detach", "cut", (*CUT, *PART), rewritten("({}).detach()"), notes=("GT112",), says=DETACHED),
    Kind("numpy", "cut", (*CUT, *PART), rewritten("paddle.to_tensor(({}).numpy())"), notes=("GT112",), says=DETACHED),
    Kind("to_tensor", "cut", (*CUT, *PART), rewritten("paddle.to_tensor({})"), notes=("GT112",), says=DETACHED),
    Kind("tolist", "cut", (*CUT, *PART), rewritten("paddle.to_tensor(({}).tolist())"), notes=("GT112",), says=DETACHED),
    Kind("no_grad", "cut", (*CUT, *PART), statement("with paddle.no_grad(): {}"), notes=("GT112",), says="no_grad"),
    Kind(
        "stop_gradient",
        "cut",
        (*CUT, *PART),
        statement("NAME.stop_gradient = True"),
        notes=("GT112",),
        says="stop_gradient",
    ),
    Kind("detach_in_place", "cut", (*CUT, *PART), statement("NAME = NAME.detach()"), notes=("GT112",), says=DETACHED),
    Kind(
        "integer",
        "cut",
        (*CUT, *PART),
        rewritten('({}).astype("int32").astype("float32")'),
        notes=("GT112",),
        says="integer|whole numbers",
    ),
    Kind("compared", "cut", (*FLAT, *PART), rewritten('(({}) > 0).astype("float32")'), notes=("GT112",)),
    Kind(
        "argmax",
        "cut",
        (*CUT, "GT111"),
        rewritten('paddle.argmax({}, axis=-1, keepdim=True).astype("float32") + paddle.zeros_like({})'),
    ),
    Kind("zeros_like", "cut", (*CUT, *ZERO, "GT111"), rewritten("paddle.zeros_like({})")),
    Kind("result_thrown_away", "cut", (*CUT, "GT113"), thrown_away),
    Kind("layer_bypassed", "cut", (*CUT, "GT114"), bypassed, anywhere=True, notes=("GT114",)),
    Kind("term_detached", "partial", (*CUT, "GT111"), term("({}).detach()"), says=DETACHED),
    Kind("term_number", "partial", (*CUT, "GT111"), term("float({})"), says=DETACHED),
    Kind("term_item", "partial", (*CUT, "GT111"), term("({}).item()"), says=DETACHED),
    Kind("term_to_tensor", "partial", (*CUT, "GT111"), term("paddle.to_tensor({})"), says=DETACHED),
    Kind("use_detached", "partial", (*CUT, "GT111", "GT112"), use("{}.detach()"), notes=("GT112",), says=DETACHED),
    Kind(
        "use_numpy",
        "partial",
        (*CUT, "GT111", "GT112"),
        use("paddle.to_tensor({}.numpy())"),
        notes=("GT112",),
        says=DETACHED,
    ),
    Kind(
        "operand_detached",
        "partial",
        (*CUT, "GT111", "GT112"),
        operand("({}).detach()"),
        notes=("GT112",),
        says=DETACHED,
    ),
    Kind("round", "zero", FLAT, rewritten("paddle.round({})")),
    Kind("floor", "zero", FLAT, rewritten("paddle.floor({})")),
    Kind("sign", "zero", FLAT, rewritten("paddle.sign({})")),
    Kind("times_zero", "zero", (*ZERO, *PART), rewritten("({}) * 0.0"), notes=("GT112",), says="zero|flat"),
    Kind("term_times_zero", "zero", (*ZERO, "GT111"), term("({}) * 0.0")),
    Kind("clipped", "zero", ZERO, rewritten("paddle.clip({}, 1e6, 2e6)")),
    Kind("dead_relu", "zero", ZERO, rewritten("paddle.nn.functional.relu(({}) - 1e3)")),
    Kind("saturated_sigmoid", "zero", ZERO, rewritten("paddle.nn.functional.sigmoid(({}) + 1e3)")),
    Kind("saturated_tanh", "zero", (*ZERO, "GT203"), rewritten("paddle.tanh(({}) * 1e6)")),
    Kind("dropout_of_all", "zero", ZERO, argument(("Dropout",), 0, "1.0")),
    Kind("log_of_zero", "number", BORN, rewritten("paddle.log(({}) * 0.0)")),
    Kind("root_of_negative", "number", BORN, rewritten("paddle.sqrt(-paddle.abs({}) - 1.0)")),
    Kind("root_at_zero", "number", (*BORN, "GT209"), rewritten("paddle.sqrt(({}) * 0.0)")),
    Kind("division_by_zero", "number", BORN, rewritten("({}) / (({}) * 0.0)")),
    Kind("exp_overflow", "number", BORN, rewritten("paddle.exp(paddle.abs({}) * 1e6 + 1e3)")),
    Kind("vanishing", "number", ("GT204", *ZERO, *BORN), rewritten("({}) * 1e-30")),
    Kind("exploding", "number", (*BORN, "GT203", "GT704"), rewritten("({}) * 1e30"), says=ENORMOUS),
    Kind("first_layers_not_listed", "update", ("GT701",), listed("list({})[2:]")),
    Kind("last_layer_not_listed", "update", ("GT701",), listed("list({})[:-2]")),
    Kind("one_parameter_listed", "update", ("GT701",), listed("list({})[:1]")),
    Kind("head_replaced", "update", ("GT701",), head_replaced),
    Kind("plain_list", "update", ("GT701", "GT101", "GT103"), called(r"^nn\.LayerList\(", "list(")),
    Kind("rate_of_zero", "update", ("GT702",), rate("0.0")),
    Kind("huge_rate", "update", ("GT716", "GT705", "GT703", "GT203", "GT715", *BORN), rate("1e12")),
    Kind("no_step", "update", ("GT702",), call_of("step", "pass")),
    Kind(
        "cleared_before_step", "update", ("GT711", "GT702", "GT205"), call_of("step", "NAME.clear_grad(); NAME.step()")
    ),
    Kind("never_cleared", "update", ("GT106", "GT710"), call_of("clear_grad", "pass")),
    Kind("clip_to_zero", "update", ("GT702", "GT712"), keyword("grad_clip=paddle.nn.ClipGradByNorm(0.0)")),
    Kind(
        "hook_of_zeros",
        "update",
        (*ZERO, "GT702"),
        after_optimizer("[p.register_hook(lambda g: g * 0.0) for p in NET.parameters()]"),
    ),
    Kind("gradient_of_zeros", "update", ZERO, given_zeros),
    Kind("loss_times_zero", "update", ZERO, call_of("backward", "(NAME * 0.0).backward()")),
    Kind(
        "detached_loss",
        "update",
        (*CUT, "GT108"),
        call_of("backward", "paddle.to_tensor(NAME.item(), stop_gradient=False).backward()"),
    ),
    Kind("probabilities_as_scores", "loss", ("GT708",), argument(("cross_entropy",), 0, PROBABILITIES)),
    Kind(
        "targets_broadcast",
        "loss",
        ("GT706",),
        argument(("mse_loss", "l1_loss", "smooth_l1_loss"), 1, "({}).flatten()"),
    ),
    Kind("huge_scores", "loss", ("GT704", "GT203", *ZERO), argument(("cross_entropy",), 0, "({}) * 1e4")),
    Kind("softmax_over_batch", "flow", ("GT601",), softmax_axis),
    Kind("reshape_for_transpose", "flow", ("GT606", "GT601", "GT602", "GT603"), reshaped),
    # Of a loss, or of a term of it, nothing is left but a gradient whose parts cancel.
    Kind("centred_over_batch", "flow", ("GT601", *ZERO), rewritten("({}) - ({}).mean(axis=0, keepdim=True)")),
    Kind(
        "mask_one_step_off",
        "flow",
        ("GT602",),
        called(r"^(paddle\.tril\([^()]*(?:\([^()]*\))?[^()]*)\)$", r"\1, diagonal=1)"),
    ),
    Kind("label_in_input", "flow", ("GT605",), label_in_input),
)
"""Every kind; tables keep this order."""
