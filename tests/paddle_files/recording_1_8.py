"""Saves programs with Paddle 1.8.5, which runs in Python 3.7: files of its kinds, and what it computes of them.

``PYTHON -m tests.paddle_files.recording_1_8 OUT``, from the top of the repository: a folder for each model, with the
names of files that ``recording.py`` has. Its wheels are for Python up to 3.8. A loop is not among them: its gradients
there are not those that differences of its loss give (0 before the loop, where the loss changes).
"""

import os
import sys

import numpy as np
import paddle.fluid as fluid
from paddle.fluid.proto import framework_pb2

L = fluid.layers


def classifier():
    x, y = fluid.data("x", [None, 4]), fluid.data("y", [None, 1], dtype="int64")
    scores = L.fc(L.dropout(L.fc(x, 6, act="relu"), 0.0), 3, act="softmax")
    return L.mean(L.cross_entropy(scores, y))


def images():
    x, y = fluid.data("x", [None, 1, 6, 6]), fluid.data("y", [None, 1], dtype="int64")
    h = L.batch_norm(L.conv2d(x, 2, 3, padding=1), act="relu")
    return L.mean(L.softmax_with_cross_entropy(L.fc(L.pool2d(h, 2, "max", 2), 3), y))


def words():
    ids, y = fluid.data("ids", [None, 5], dtype="int64"), fluid.data("target", [None, 1])
    h = L.layer_norm(L.reduce_mean(fluid.embedding(ids, size=[3, 4]), dim=1))
    return L.mean(L.square(L.fc(h, 1, act="sigmoid") - y))


def attention():
    x = fluid.data("x", [None, 4, 6])
    q, k, v = [L.fc(x, 6, num_flatten_dims=2) for _ in range(3)]
    shares = L.softmax(L.matmul(q, k, transpose_y=True, alpha=0.4))
    return L.mean(L.square(L.layer_norm(x + L.matmul(shares, v), begin_norm_axis=2)))


def upwards():
    x = fluid.data("x", [None, 2, 3, 3])
    h = L.group_norm(L.conv2d_transpose(x, 4, filter_size=2, stride=2), 2, param_attr="scale", bias_attr="shift")
    return L.mean(L.square(L.leaky_relu(L.resize_bilinear(h, out_shape=[5, 4]), 0.1)))


def branch():
    x = fluid.data("x", [None, 3])
    h = L.fc(x, 3)
    return L.mean(L.cond(L.reduce_sum(x) > 0.0, lambda: L.tanh(h), lambda: h * 2.0))


MODELS = (classifier, images, words, attention, upwards, branch)


def value(draw, v):
    """What is fed as a variable of that shape and type."""
    shape = [3 if d < 0 else d for d in v.shape]
    if v.dtype == fluid.core.VarDesc.VarType.INT64:
        return draw.randint(0, 3, shape).astype("int64")
    return np.round(draw.uniform(-1, 1, shape), 3).astype("float32")


def saved(model, out):
    """Save one model: its training program, its forward part, what is fed and what comes."""
    draw = np.random.RandomState(len(model.__name__))
    main, startup = fluid.Program(), fluid.Program()
    executor = fluid.Executor(fluid.CPUPlace())
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        loss = model()
        forward = main.clone(for_test=True)
        fluid.backward.append_backward(loss)
    block = main.global_block()
    feed = {v.name: value(draw, v) for v in block.vars.values() if v.is_data}
    parameters = [p.name for p in block.all_parameters() if block.has_var(p.name + "@GRAD")]
    executor.run(startup)
    for p in block.all_parameters():
        held = fluid.global_scope().find_var(p.name).get_tensor()
        held.set(np.round(draw.uniform(-0.6, 0.6, p.shape), 3).astype("float32"), fluid.CPUPlace())
    files = {"model_filename": "infer.pdmodel", "params_filename": "infer.pdiparams", "main_program": forward}
    fluid.io.save_inference_model(out, sorted(feed), [loss], executor, **files)
    fluid.save(main, os.path.join(out, "train"))
    (inferred,) = executor.run(forward, feed=feed, fetch_list=[loss.name])
    fetched = [loss.name] + [name + "@GRAD" for name in parameters]
    values = executor.run(main, feed=feed, fetch_list=fetched)
    arrays = {"feed/" + name: array for name, array in feed.items()}
    arrays.update({"grad/" + name: array for name, array in zip(parameters, values[1:])})  # noqa: B905 Python 3.7
    arrays.update({"name/" + name: np.array(name + "@GRAD") for name in parameters})
    for name in ("infer.pdmodel", "train.pdmodel"):
        elsewhere(os.path.join(out, name))
    np.savez(os.path.join(out, "values.npz"), loss=values[0], inferred=inferred, **arrays)


def elsewhere(path):
    """Have the callstacks in a file not say where on this machine Paddle and the repository lie."""
    places = {sys.prefix: "/usr", os.getcwd(): "/home/user/gradtool"}
    with open(path, "rb") as file:
        program = framework_pb2.ProgramDesc.FromString(file.read())
    stacks = [a for block in program.blocks for op in block.ops for a in op.attrs if a.name == "op_callstack"]
    for attr in stacks:
        for here, there in places.items():
            attr.strings[:] = [line.replace(here, there) for line in attr.strings]
    with open(path, "wb") as file:
        file.write(program.SerializeToString())


def main():
    """Save every model."""
    for model in MODELS:
        out = os.path.join(sys.argv[1], model.__name__)
        os.makedirs(out, exist_ok=True)
        with fluid.scope_guard(fluid.Scope()):
            saved(model, out)
        print(model.__name__, sorted(os.listdir(out)))


if __name__ == "__main__":
    main()
