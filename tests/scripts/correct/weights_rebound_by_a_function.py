# symptom   none: a function gives a new dict of weights after each step
# command   why
import paddle


def updated(params, rate):
    with paddle.no_grad():
        new = {name: p - rate * p.grad for name, p in params.items()}
    for p in new.values():
        p.stop_gradient = False
    return new


def main():
    paddle.seed(0)
    params = {"w1": paddle.randn([3, 4]), "b1": paddle.zeros([4]), "w2": paddle.randn([4, 1])}
    for p in params.values():
        p.stop_gradient = False
    x, y = paddle.randn([16, 3]), paddle.randn([16, 1])
    for _ in range(4):
        h = paddle.tanh(x @ params["w1"] + params["b1"])
        loss = ((h @ params["w2"] - y) ** 2).mean()
        loss.backward()
        params = updated(params, 0.1)


main()
