"""A line through the logarithm of a ratio. One row of data/ratios.npz has nothing to divide by, and ruins its batch:

gradtool sweep nan samples/ratios.py --rows samples/data/ratios.npz:64
"""

import paddle


def build(price, earnings, growth):
    paddle.seed(0)
    line = paddle.nn.Linear(1, 1)
    ratio = paddle.log(price / earnings)
    return (line(ratio) - growth).square().mean()
