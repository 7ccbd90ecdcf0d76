# about     No layers at all: parameters live in a dict, a function uses them, the optimizer gets their list.
import paddle
import paddle.nn.functional as F


def init(sizes):
    params = {}
    for i, (a, b) in enumerate(zip(sizes[:-1], sizes[1:]), 1):
        params[f"w{i}"] = paddle.create_parameter([a, b], "float32")
        params[f"b{i}"] = paddle.create_parameter([b], "float32", is_bias=True)
    return params


def forward(params, x):
    x = F.silu(x @ params["w1"] + params["b1"])
    return x @ params["w2"] + params["b2"]


def main():
    paddle.seed(40)
    params = init([3, 9, 1])
    opt = paddle.optimizer.RMSProp(0.01, parameters=list(params.values()))
    for _ in range(3):
        x = paddle.rand([11, 3])
        loss = F.smooth_l1_loss(forward(params, x), x.sum(axis=1, keepdim=True))
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
