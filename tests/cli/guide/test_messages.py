"""``gradtool explain`` knows error messages as the frameworks print them, with their names, shapes and numbers."""

import pytest

from gradtool.cli.guide import messages
from tests.cli.conftest import Run

PRINTED = {
    "RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn": "has no graph",
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed).": "freed the graph",
    "one of the variables needed for gradient computation has been modified by an inplace operation: "
    "[torch.FloatTensor [3]], which is output 0 of ExpBackward0, is at version 1; expected version 0.": "overwrote",
    "a leaf Variable that requires grad is being used in an in-place operation.": "changed in place",
    "a view of a leaf Variable that requires grad is being used in an in-place operation.": "part of a parameter",
    "grad can be implicitly created only for scalar outputs": "several elements",
    "One of the differentiated Tensors appears to not have been used in the graph.": "does not depend on",
    "The differentiated Tensor at index 0 appears to not have been used in the graph. Set allow_unused=True if this is "
    "the desired behavior.": "does not depend on",
    "Expected to have finished reduction in the prior iteration before starting a new one.": "other processes wait",
    "ValueError: can't optimize a non-leaf Tensor": "not a parameter",
    "ValueError: optimizer got an empty parameter list": "no parameter",
    "params argument given to the optimizer should be an iterable of Tensors or dicts, but got torch.Tensor": "[te",
    "some parameters appear in more than one parameter group": "two groups",
    "Inference tensors cannot be saved for backward.": "inference_mode()",
    "Inplace update to inference tensor outside InferenceMode is not allowed.": "clone()",
    "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.": "NumPy keeps no gradients",
    "Only Tensors of floating point and complex dtype can require gradients": "Whole numbers",
    "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol": "copie",
    "you can only change requires_grad flags of leaf variables.": "detach()",
    "a Tensor with 3 elements cannot be converted to Scalar": "several elements",
    "attempting to assign a gradient of size '[4]' to a tensor of size '[3]'. Please ensure that the gradient and the "
    "tensor are the same size": "another shape",
    "can't retain_grad on Tensor that has requires_grad=False": "No gradient comes",
    "cannot register a hook on a tensor that doesn't require gradient": "No gradient comes",
    "function FBackward returned an incorrect number of gradients (expected 2, got 1)": "too few or too many",
    "Function GBackward returned an invalid gradient at index 0 - got [5] but expected shape compatible with "
    "[3]": "Sum",
    "Mismatch in shape: grad_output[0] has a shape of [2] and output[0] has a shape of [3].": "shape",
    "mat1 and mat2 shapes cannot be multiplied (4x5 and 3x1)": "features",
    "mat1 and mat2 must have the same dtype, but got Double and Float": "two types",
    "unscale_() has already been called on this optimizer since the last update().": "unscaled twice",
    "Boolean value of Tensor with more than one value is ambiguous": "condition",
    "Expected more than 1 value per channel when training, got input size torch.Size([1, 3])": "Batch norm",
    "Function 'SqrtBackward0' returned nan values in its 0th output.": "NaN",
    "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad()": "use_reentrant=False",
    "None of the inputs have requires_grad=True. Gradients will be None": "use_reentrant=False",
    "(Fatal) The TensorWrappers of SumGradNode do not exist. This may be because:": "freed the graph",
    "(PermissionDenied) Tensor '' used in gradient computation has been modified by an inplace operation. Its version "
    "is 1 but the expected version is 0.": "overwrote",
    "(InvalidArgument) Leaf Var () that doesn't stop gradient can't use inplace strategy.": "paddle.no_grad()",
    "(InvalidArgument) The 0-th input does not appear in the backward graph. Please check the input tensor or set "
    "allow_unused=True to get None result.": "paddle.grad",
    "parameters argument given to the Optimizer should not be None in dygraph mode.": "no parameters",
    "(InvalidArgument) GradNodePyLayer_F_backward's backward function should not return empty at 1 position.": "few",
    "(InvalidArgument) The number of outputs of `PyLayer.backward` should be 1, but received 2.": "too many",
    "Cannot register hook on a tensor that stop gradient.": "No gradient comes",
    "PreconditionNotMetError: The Input variable Y has not been initialized. You may need to confirm if you put "
    "exe.run(startup_program) after optimizer.minimize function.": "startup program",
}
"""What torch 2.13 and Paddle 3.1 print, and a piece of what is said of it."""


@pytest.mark.parametrize("text", PRINTED)
def test_a_message_is_known(text: str, gradtool: Run) -> None:
    done = gradtool("explain", text)
    assert done.code == 0
    assert PRINTED[text] in done.out.split("\n\n")[0]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("embedding not updated", "A gradient is None"),
        ("freeze by name", "A layer is frozen by accident"),
        ("memory grows", "Memory grows with every step"),
    ],
)
def test_what_people_see_has_a_page(text: str, title: str, gradtool: Run) -> None:
    assert gradtool("explain", text).out.startswith(title)


def test_words_of_a_sentence_are_no_message() -> None:
    assert messages.search("the gradient is zero") == []


@pytest.mark.parametrize("command", sorted({m.command.split()[1] for m in messages.MESSAGES} - {"train.py"}))
def test_commands_are_there(command: str, gradtool: Run) -> None:
    assert gradtool(command, "--help").code == 0
