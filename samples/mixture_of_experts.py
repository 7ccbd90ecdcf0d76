"""A mixture of experts: a router sends each batch to one of three small networks, and only that one is computed.

Train it (a second)::

    python samples/mixture_of_experts.py

See its backward part, with a block for each expert::

    gradtool backward samples/mixture_of_experts.py --run

The data come from three sources, each with a linear map of its own, and a batch comes from one of them; an expert is a
linear map, so none of them can answer for two sources. The router sees the batch and gives each expert a probability.
``static.nn.switch_case`` computes the likeliest one, and what it answers is multiplied by its probability: an answer
that does not fit costs less when it is small, so the router turns to another expert; one that fits makes it sure.

In `gradtool backward --run` the experts that the batch was not sent to have gradients of zeros.
"""

import numpy as np

import gradtool

gradtool.as_paddle()  # from here on `import paddle` finds gradtool

import paddle  # noqa: E402
import paddle.nn.functional as F  # noqa: E402

paddle.enable_static()

EXPERTS = 3
WIDTH = 4
BATCH = 32


def network():
    """The loss, and the number of the expert that answers."""
    x = paddle.static.data("x", [None, WIDTH], "float32")
    y = paddle.static.data("y", [None, WIDTH], "float32")
    scores = paddle.static.nn.fc(paddle.mean(x, axis=0, keepdim=True), EXPERTS, name="router")
    probabilities = F.softmax(scores)
    chosen = paddle.argmax(probabilities, axis=1)

    def expert(number):
        return lambda: paddle.static.nn.fc(x, WIDTH, name=f"expert{number}")

    answer = paddle.static.nn.switch_case(chosen, [expert(k) for k in range(EXPERTS)])
    sure = paddle.max(probabilities)
    return paddle.mean(paddle.square(answer * sure - y)), chosen


def source(number, rng):
    """A batch of one source: it lies around a place of its own, and is mapped by a matrix of its own."""
    place = np.random.default_rng(10 + number).normal(0.0, 2.0, WIDTH)
    matrix = np.random.default_rng(20 + number).normal(0.0, 1.0, (WIDTH, WIDTH))
    x = (place + rng.normal(0.0, 0.5, (BATCH, WIDTH))).astype("float32")
    return {"x": x, "y": (x @ matrix).astype("float32")}


def build():
    """What the command line asks for: the loss, and something to feed."""
    loss, _ = network()
    return loss, source(0, np.random.default_rng(0))


def train(steps=900, rate=0.02):
    """The loss of every step, and the expert that each source is sent to in the end."""
    paddle.seed(4)
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        loss, chosen = network()
        paddle.optimizer.Adam(rate).minimize(loss)
    exe = paddle.static.Executor()
    exe.run(startup)
    rng = np.random.default_rng(4)
    history = []
    sent = {}
    for step in range(steps):
        found, number = exe.run(main, feed=source(step % EXPERTS, rng), fetch_list=[loss, chosen])
        history.append(float(found))
        sent[step % EXPERTS] = int(number[0])
        if step % 100 == 0:
            print(f"step {step:3}   loss {np.mean(history[-EXPERTS:]):8.4f}")
    print(f"step {steps - 1}   loss {np.mean(history[-EXPERTS:]):8.4f}")
    for number, expert in sent.items():
        print(f"source {number} is sent to expert {expert}")
    return history, [sent[k] for k in range(EXPERTS)]


if __name__ == "__main__":
    train()
