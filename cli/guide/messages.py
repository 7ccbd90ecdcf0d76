"""Error messages of Paddle and PyTorch, as they print them, with what each means and which command shows the cause."""

from __future__ import annotations

import re

from gradtool.engine.core.records import dataclass

from .cookbook import EMPTY

_WORD = re.compile(r"[a-z0-9_]+")
_SHARE = 0.75
"""So many of the words of a message have to be in the text, or of the text in the message."""
_FEWEST = 3
"""Words that a text has to share with a message."""


@dataclass(frozen=True)
class Message:
    """An error message.

    Attributes:
        text: what the framework prints, without names, shapes and numbers.
        meaning: what happened.
        remedy: what to change.
        command: what shows the line.
        framework: ``PyTorch`` or ``Paddle``.
    """

    text: str
    meaning: str
    remedy: str
    command: str = "gradtool why train.py"
    framework: str = "PyTorch"

    @property
    def title(self) -> str:
        """Event and remedy in two sentences."""
        return f"{self.meaning}. {self.remedy}."


def search(text: str) -> list[Message]:
    """Return the messages that *text* is, or is a part of, the closest first."""
    words = _find_names(text)
    found = []
    for place, message in enumerate(MESSAGES):
        theirs = _find_names(message.text)
        common = len(words & theirs)
        share = max(common / len(theirs), common / max(len(words), 1))
        if common >= _FEWEST and share >= _SHARE:
            found.append((-common / len(words | theirs), place, message))
    return [message for _, _, message in sorted(found)[:3]]


def _find_names(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())) - EMPTY


def _paddle(text: str, meaning: str, remedy: str, command: str = "gradtool why train.py") -> Message:
    return Message(text, meaning, remedy, command, "Paddle")


MESSAGES = (
    Message(
        "element 0 of tensors does not require grad and does not have a grad_fn",
        "The loss has no graph: it was detached, computed under no_grad(), or nothing before it requires a gradient",
        "Compute it from parameters, outside of no_grad() and without item(), numpy() or detach()",
    ),
    Message(
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
        "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad().",
        "An earlier backward freed the graph that this one needs",
        "Compute the loss anew for each backward, detach what is kept from the last step, or pass retain_graph=True",
    ),
    Message(
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        "which is output of, is at version; expected version instead.",
        "An operator in place overwrote a value that backward needs",
        "Use the operator that makes a new tensor, or write into x.clone()",
    ),
    Message(
        "a leaf Variable that requires grad is being used in an in-place operation.",
        "A parameter was changed in place while gradients are recorded",
        "Change it under torch.no_grad(), or make a new tensor",
        "gradtool train.py",
    ),
    Message(
        "a view of a leaf Variable that requires grad is being used in an in-place operation.",
        "A part of a parameter was assigned while gradients are recorded",
        "Assign it under torch.no_grad(), or use torch.where",
        "gradtool train.py",
    ),
    Message(
        "grad can be implicitly created only for scalar outputs",
        "backward() starts at a tensor with several elements, and no gradient was given for it",
        "Take its mean() or sum(), or pass backward(gradient=…)",
        "gradtool train.py",
    ),
    Message(
        "One of the differentiated Tensors appears to not have been used in the graph. "
        "Set allow_unused=True if this is the desired behavior.",
        "autograd.grad was asked for a tensor that the output does not depend on",
        "Compute the output from that tensor itself, not from a copy of it; allow_unused=True gives None instead",
    ),
    Message(
        "The differentiated Tensor at index appears to not have been used in the graph. "
        "Set allow_unused=True if this is the desired behavior.",
        "autograd.grad was asked for a tensor that the output does not depend on",
        "Compute the output from that tensor itself, not from a copy of it; allow_unused=True gives None instead",
    ),
    Message(
        "Expected to have finished reduction in the prior iteration before starting a new one. This error indicates "
        "that your module has parameters that were not used in producing loss.",
        "Some parameters got no gradient in the last step, and other processes wait for them",
        "Use every parameter in forward, or pass find_unused_parameters=True to DistributedDataParallel",
    ),
    Message(
        "can't optimize a non-leaf Tensor",
        "The optimizer was given a result of operators, not a parameter",
        "Make it a leaf: nn.Parameter(x), or x.detach().requires_grad_(True) after the last operator, such as .to()",
        "gradtool train.py",
    ),
    Message(
        "optimizer got an empty parameter list",
        "The optimizer was given no parameter: the list was spent, or layers stand in a plain list",
        "Pass list(model.parameters()), and hold layers in nn.ModuleList",
        "gradtool train.py",
    ),
    Message(
        "params argument given to the optimizer should be an iterable of Tensors or dicts, but got",
        "The optimizer was given one tensor",
        "Pass a list: [tensor]",
        "gradtool train.py",
    ),
    Message(
        "some parameters appear in more than one parameter group",
        "One parameter is in two groups of the optimizer",
        "Leave it in one of them",
        "gradtool train.py",
    ),
    Message(
        "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
        "computation tracked by autograd.",
        "A tensor made under inference_mode() goes into a loss",
        "Make it under no_grad() instead, or use a clone() of it",
        "gradtool train.py",
    ),
    Message(
        "Inplace update to inference tensor outside InferenceMode is not allowed.",
        "A tensor made under inference_mode() is changed outside of it",
        "Change a clone() of it, or make it under no_grad()",
        "gradtool train.py",
    ),
    Message(
        "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
        "NumPy keeps no gradients, so the tensor has to leave the graph first",
        "detach().numpy() for a log; what goes into the loss has to stay a tensor",
    ),
    Message(
        "Only Tensors of floating point and complex dtype can require gradients",
        "Whole numbers have no gradient",
        "Convert it to float first",
    ),
    Message(
        "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the moment.",
        "A module holds a result of operators, which cannot be copied",
        "Hold a detached copy or a parameter, and compute the result in forward",
        "gradtool train.py",
    ),
    Message(
        "you can only change requires_grad flags of leaf variables.",
        "requires_grad was set on a result of operators",
        "Use x.detach() where no gradient is to flow",
    ),
    Message(
        "a Tensor with elements cannot be converted to Scalar",
        "item() was called on a tensor with several elements",
        "Take its mean() or one element first",
        "gradtool train.py",
    ),
    Message(
        "attempting to assign a gradient of size to a tensor of size. Please ensure that the gradient and the tensor "
        "are the same size",
        "A gradient of another shape was assigned to .grad",
        "Sum it over the dimensions that were broadcast",
        "gradtool train.py",
    ),
    Message(
        "can't retain_grad on Tensor that has requires_grad=False",
        "No gradient comes to that tensor",
        "Compute it from something that requires a gradient",
    ),
    Message(
        "cannot register a hook on a tensor that doesn't require gradient",
        "No gradient comes to that tensor",
        "Compute it from something that requires a gradient",
    ),
    Message(
        "returned an incorrect number of gradients (expected, got)",
        "backward of an autograd.Function returns too few or too many values",
        "Return one value for each argument of forward, None where there is no gradient",
        "gradtool gradcheck train.py",
    ),
    Message(
        "returned an invalid gradient at index - got but expected shape compatible with",
        "backward of an autograd.Function returns a gradient of another shape than its input",
        "Sum it over the dimensions that were broadcast",
        "gradtool gradcheck train.py",
    ),
    Message(
        "Legacy autograd function with non-static forward method is deprecated.",
        "forward and backward of an autograd.Function are no static methods",
        "Decorate them with @staticmethod, and call Function.apply",
        "gradtool train.py",
    ),
    Message(
        "Mismatch in shape: grad_output has a shape of and output has a shape of",
        "The gradient given to backward has another shape than the tensor it starts from",
        "Give it the shape of the output",
        "gradtool train.py",
    ),
    Message(
        "mat1 and mat2 shapes cannot be multiplied",
        "The features of a batch are not those that the layer was made for",
        "Look at the layer before it: flatten, the number of channels, or a transpose",
        "gradtool train.py",
    ),
    Message(
        "mat1 and mat2 must have the same dtype, but got",
        "Data and weights have two types",
        "Convert the data, x.float(), or use torch.autocast",
        "gradtool train.py",
    ),
    Message(
        "Attempted step but _scale is None. This may indicate your script did not use scaler.scale(loss or outputs) "
        "earlier in the iteration.",
        "scaler.step was called, and the loss was not scaled",
        "Call scaler.scale(loss).backward()",
        "gradtool check train.py",
    ),
    Message(
        "unscale_() has already been called on this optimizer since the last update().",
        "Gradients were unscaled twice in one step",
        "Call scaler.update() after each scaler.step(optimizer)",
        "gradtool check train.py",
    ),
    Message(
        "Boolean value of Tensor with more than one value is ambiguous",
        "A tensor with several elements was used as a condition",
        "Use any(), all(), or torch.where for a choice by element",
        "gradtool train.py",
    ),
    Message(
        "Expected more than 1 value per channel when training, got input size",
        "Batch norm has one value for a channel, which has no deviation",
        "Use larger batches (drop_last=True), eval(), or another norm",
        "gradtool train.py",
    ),
    Message(
        "returned nan values in its 0th output.",
        "The gradient of that operator is NaN: its operand is at a point where the slope is infinite",
        "Keep the operand away from that point; the command names the operator and the value",
        "gradtool nan train.py",
    ),
    Message(
        "A view was created in no_grad mode and is being modified inplace with grad mode enabled.",
        "A view was made under no_grad() and is written outside of it",
        "Do both inside, or both outside",
        "gradtool train.py",
    ),
    Message(
        "is a view and is being modified inplace. This view is the output of a function that returns multiple views.",
        "One of the tensors that split, chunk or unbind gave was changed in place",
        "Use the operator that makes a new tensor",
        "gradtool train.py",
    ),
    Message(
        "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` "
        "parameter to .backward().",
        "A reentrant checkpoint gives gradients to backward() alone",
        "Pass use_reentrant=False to checkpoint",
        "gradtool train.py",
    ),
    Message(
        "None of the inputs have requires_grad=True. Gradients will be None",
        "A reentrant checkpoint passes gradients on only where one of its inputs requires one",
        "Pass use_reentrant=False to checkpoint",
    ),
    Message(
        "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
        "populated during autograd.backward().",
        "The tensor is a result of operators, and PyTorch keeps gradients of leaves alone",
        "Call retain_grad() on it before backward()",
        "gradtool why NAME train.py",
    ),
    Message(
        "Detected call of `lr_scheduler.step()` before `optimizer.step()`.",
        "The rate is changed before the first update, which loses its first value",
        "Call optimizer.step() first",
        "gradtool check train.py",
    ),
    Message(
        "Jacobian mismatch for output 0 with respect to input 0,",
        "The gradient of a function differs from differences of its values",
        "Compare them element by element",
        "gradtool gradcheck train.py",
    ),
    _paddle(
        "(Fatal) The TensorWrappers of do not exist. This may be because: You calculate backward twice for the same "
        "subgraph without setting retain_graph=True.",
        "An earlier backward freed the graph that this one needs",
        "Compute the loss anew for each backward, or pass retain_graph=True",
    ),
    _paddle(
        "(PermissionDenied) Tensor used in gradient computation has been modified by an inplace operation. Its version "
        "is but the expected version is",
        "An operator in place overwrote a value that backward needs",
        "Use the operator that makes a new tensor, or write into x.clone()",
    ),
    _paddle(
        "(InvalidArgument) Leaf Var () that doesn't stop gradient can't use inplace strategy.",
        "A parameter was changed in place while gradients are recorded",
        "Change it under paddle.no_grad(), or use set_value",
        "gradtool train.py",
    ),
    _paddle(
        "(InvalidArgument) The 0-th input does not appear in the backward graph. Please check the input tensor or set "
        "allow_unused=True to get None result.",
        "paddle.grad was asked for a tensor that the output does not depend on, or that has stop_gradient=True",
        "Compute the output from that tensor itself, and set its stop_gradient to False before",
    ),
    _paddle(
        "Tensor shape not match, Tensor of grad_tensor with shape mismatch Tensor with shape",
        "The gradient given to backward has another shape than the tensor it starts from",
        "Give it the shape of the output",
        "gradtool train.py",
    ),
    _paddle(
        "parameters argument given to the Optimizer should not be None in dygraph mode.",
        "The optimizer was given no parameters",
        "Pass parameters=net.parameters()",
        "gradtool train.py",
    ),
    _paddle(
        "`parameters` argument given to the optimizer should be an iterable of paddle Tensors, but got argument type",
        "The optimizer was given one tensor",
        "Pass a list: [tensor]",
        "gradtool train.py",
    ),
    _paddle(
        "(InvalidArgument) GradNodePyLayer backward function should not return empty at position.",
        "backward of a PyLayer returns fewer gradients than forward has tensors",
        "Return one value for each tensor of forward",
        "gradtool gradcheck train.py",
    ),
    _paddle(
        "(InvalidArgument) The number of outputs of `PyLayer.backward` should be, but received",
        "backward of a PyLayer returns too many values",
        "Return one value for each tensor of forward",
        "gradtool gradcheck train.py",
    ),
    _paddle(
        "Cannot register hook on a tensor that stop gradient.",
        "No gradient comes to that tensor",
        "Set stop_gradient=False where it is made",
    ),
    _paddle(
        "only one element variable can be converted to float.",
        "float() was called on a tensor with several elements",
        "Take its mean() or one element first",
        "gradtool train.py",
    ),
    _paddle(
        "Variable Shape not match, Variable need tensor with shape but load set tensor with shape",
        "set_value was given another shape than the parameter has",
        "Give it the shape of the parameter",
        "gradtool train.py",
    ),
    _paddle(
        "PreconditionNotMetError: The Input variable has not been initialized. You may need to confirm if you put "
        "exe.run(startup_program) after optimizer.minimize function.",
        "The program reads a variable that the startup program has not filled",
        "Run the startup program after minimize, which adds to it",
        "gradtool train.py",
    ),
    _paddle(
        "loss.op is None. Should not happen",
        "append_backward was given data, which no operator made",
        "Give it the result of the loss function",
        "gradtool train.py",
    ),
)
