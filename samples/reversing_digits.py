"""Sequence to sequence with attention: a recurrent network that learns to say digits backwards.

Train it (some seconds)::

    python samples/reversing_digits.py

See its backward part, with the blocks of both loops::

    gradtool backward samples/reversing_digits.py --run
    gradtool graph --text samples/reversing_digits.py --blocks --part bwd

The reader and the writer are loops of the program (``static.nn.while_loop``): each has one block, however long the
sequences are. What the reader has in mind after each digit goes into a memory; the writer looks at all of it, weighted
by how well each entry fits what the writer has in mind (attention), before it says the next digit.

The backward part has a block for each loop too. It runs through the iterations from the last to the first, on what each
of them left, and adds up the gradients of the parameters.
"""

import numpy as np

import gradtool

gradtool.as_paddle()  # from here on `import paddle` finds gradtool

import paddle  # noqa: E402
import paddle.nn.functional as F  # noqa: E402

paddle.enable_static()

DIGITS = 10
START = DIGITS  # what the writer sees before the first digit
LENGTH = 6
WIDTH = 32
BATCH = 64


def weights(name, rows, columns):
    """A matrix of parameters."""
    return paddle.static.create_parameter([rows, columns], "float32", name=name)


def row(sequence, t):
    """The entry of *sequence* [LENGTH, ...] at the step that the variable *t* counts."""
    return paddle.squeeze(paddle.gather(sequence, t), 0)


def read(embedded):
    """What the reader has in mind after the last digit [N, WIDTH], and after each of them [N, LENGTH, WIDTH]."""
    by_digit, by_state = weights("read_digit", WIDTH, WIDTH), weights("read_state", WIDTH, WIDTH)
    t, end = paddle.full([1], 0, "int64"), paddle.full([1], LENGTH, "int64")
    memory = paddle.transpose(embedded, [1, 0, 2]) * 0.0

    def step(t, state, memory):
        state = paddle.tanh(row(embedded, t) @ by_digit + state @ by_state)
        here = paddle.reshape(F.one_hot(t, LENGTH), [1, LENGTH, 1])
        return t + 1, state, memory + paddle.unsqueeze(state, 1) * here

    _, state, memory = paddle.static.nn.while_loop(
        lambda t, state, memory: t < end, step, [t, embedded[0] * 0.0, memory]
    )
    return state, memory


def write(state, memory, before, target):
    """The loss of saying *target*, and the share of digits that are right.

    Args:
        before: what was said before each digit [LENGTH, N, WIDTH].
    """
    by_digit, by_state = weights("write_digit", WIDTH, WIDTH), weights("write_state", WIDTH, WIDTH)
    by_memory, say = weights("write_memory", WIDTH, WIDTH), weights("say", 2 * WIDTH, DIGITS)
    t, end = paddle.full([1], 0, "int64"), paddle.full([1], LENGTH, "int64")

    def step(t, state, loss, right):
        state = paddle.tanh(row(before, t) @ by_digit + state @ by_state)
        fit = paddle.matmul(memory, paddle.unsqueeze(state @ by_memory, 2))  # [N, LENGTH, 1]
        seen = paddle.sum(F.softmax(fit, axis=1) * memory, axis=1)
        scores = paddle.concat([state, seen], axis=1) @ say
        wanted = paddle.unsqueeze(row(target, t), 1)
        hit = paddle.cast(paddle.equal(paddle.argmax(scores, axis=1, keepdim=True), wanted), "float32")
        return t + 1, state, loss + F.cross_entropy(scores, wanted), right + paddle.mean(hit)

    zero = paddle.zeros([], "float32")
    _, _, loss, right = paddle.static.nn.while_loop(
        lambda t, state, loss, right: t < end, step, [t, state, zero, paddle.zeros([], "float32")]
    )
    return loss / float(LENGTH), right / float(LENGTH)


def network():
    """The loss, and the share of digits that are right."""
    source = paddle.static.data("source", [LENGTH, None], "int64")
    target = paddle.static.data("target", [LENGTH, None], "int64")
    table = weights("digits", DIGITS + 1, WIDTH)
    state, memory = read(F.embedding(source, table))
    before = paddle.concat([paddle.full_like(target[:1], START), target[:-1]], axis=0)
    return write(state, memory, F.embedding(before, table), target)


def batch(rng):
    """Random digits and the same backwards."""
    source = rng.integers(0, DIGITS, (LENGTH, BATCH))
    return {"source": source, "target": source[::-1].copy()}


def build():
    """What the command line asks for: the loss, and something to feed."""
    loss, _ = network()
    return loss, batch(np.random.default_rng(0))


def train(steps=200, rate=0.01):
    """The loss of every step, and the share of right digits in the last one."""
    paddle.seed(1)
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        loss, right = network()
        paddle.optimizer.Adam(rate).minimize(loss)
    exe = paddle.static.Executor()
    exe.run(startup)
    rng = np.random.default_rng(2)
    history = []
    for step in range(steps):
        found, share = exe.run(main, feed=batch(rng), fetch_list=[loss, right])
        history.append(float(found))
        if step % 50 == 0:
            print(f"step {step:3}   loss {history[-1]:.4f}   {float(share):4.0%} of the digits are right")
    print(f"step {steps - 1}   loss {history[-1]:.4f}   {float(share):4.0%} of the digits are right")
    return history, float(share)


if __name__ == "__main__":
    train()
