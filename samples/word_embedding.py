"""Word vectors from a paragraph of prose: one table, used twice.

Train it (a second)::

    python samples/word_embedding.py

See its backward part::

    gradtool backward samples/word_embedding.py --run

The model guesses a word from its neighbours (CBOW). The vectors of the neighbours come out of the table ``words``, and
the guess is scored against the same table. So two operators contribute to its gradient, the look-up and the product,
and a `sum` operator adds the two contributions. That sum is what the table of `gradtool backward` names as the origin.

The text is the beginning of "Alice's Adventures in Wonderland" by Lewis Carroll (1865), which is in the public domain.
"""

import numpy as np

import gradtool

gradtool.as_paddle()  # from here on `import paddle` finds gradtool

import paddle  # noqa: E402
import paddle.nn.functional as F  # noqa: E402

paddle.enable_static()

TEXT = """
Alice was beginning to get very tired of sitting by her sister on the bank, and of having nothing to do: once or twice
she had peeped into the book her sister was reading, but it had no pictures or conversations in it, "and what is the
use of a book," thought Alice, "without pictures or conversations?" So she was considering in her own mind, as well as
she could, for the hot day made her feel very sleepy and stupid, whether the pleasure of making a daisy-chain would be
worth the trouble of getting up and picking the daisies, when suddenly a White Rabbit with pink eyes ran close by her.
There was nothing so very remarkable in that; nor did Alice think it so very much out of the way to hear the Rabbit say
to itself, "Oh dear! Oh dear! I shall be late!"
"""
REACH = 2  # how many words on either side are the neighbours
WIDTH = 16  # numbers in a word's vector


def corpus():
    """The vocabulary, the ids of every word's neighbours [N, 4], and the ids of the words themselves [N, 1]."""
    words = "".join(c if c.isalpha() else " " for c in TEXT.lower()).split()
    vocabulary = sorted(set(words))
    ids = np.array([vocabulary.index(w) for w in words])
    middle = np.arange(REACH, len(ids) - REACH)
    around = [d for d in range(-REACH, REACH + 1) if d != 0]
    return vocabulary, ids[middle[:, None] + around], ids[middle][:, None]


def network(size):
    """The loss of guessing words from their neighbours, and the table of vectors, for a vocabulary of *size* words."""
    neighbours = paddle.static.data("neighbours", [None, 2 * REACH], "int64")
    word = paddle.static.data("word", [None, 1], "int64")

    table = paddle.static.create_parameter(
        [size, WIDTH], "float32", name="words", default_initializer=paddle.nn.initializer.Normal(0.0, 0.1)
    )
    vectors = F.embedding(neighbours, table)  # [N, 4, WIDTH]: the first use
    context = paddle.mean(vectors, axis=1)  # [N, WIDTH]
    scores = paddle.matmul(context, table, transpose_y=True)  # [N, size]: the second use
    return F.cross_entropy(scores, word), table


def build():
    """What the command line asks for: the loss, and something to feed."""
    vocabulary, neighbours, word = corpus()
    loss, _ = network(len(vocabulary))
    return loss, {"neighbours": neighbours, "word": word}


def train(steps=300, rate=5.0):
    """Gradient descent on the whole text at once; returns the loss of every step."""
    vocabulary, neighbours, word = corpus()
    feed = {"neighbours": neighbours, "word": word}
    paddle.seed(1)

    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        loss, table = network(len(vocabulary))
        [(_, gradient)] = paddle.static.append_backward(loss)

    place = paddle.CPUPlace()
    exe = paddle.static.Executor(place)
    exe.run(startup)
    value = paddle.static.global_scope().find_var(table.name).get_tensor()

    history = []
    for step in range(steps):
        found, slope = exe.run(main, feed=feed, fetch_list=[loss, gradient])
        value.set(np.array(value) - rate * slope, place)
        history.append(float(found))
        if step % 50 == 0:
            print(f"step {step:3}   loss {history[-1]:.4f}")
    print(f"step {steps - 1}   loss {history[-1]:.4f}   ({len(vocabulary)} words, {len(word)} places to guess)")
    return history


if __name__ == "__main__":
    train()
