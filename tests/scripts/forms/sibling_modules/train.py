# symptom   the attention's projection is None
# cause     detach in a module beside the script
# command   why
# verdict   detached
# line      return F.softmax(self.score(x), axis=1).detach()
# affected  net.attention.score.weight
import paddle
import paddle.nn.functional as F
from model import Net
from settings import CONFIG


def main():
    paddle.seed(CONFIG["seed"])
    net = Net(CONFIG["size"])
    opt = paddle.optimizer.Adam(CONFIG["lr"], parameters=net.parameters())
    for _ in range(CONFIG["steps"]):
        x = paddle.randn([6, 4, CONFIG["size"]])
        loss = F.cross_entropy(net(x), paddle.randint(0, 3, [6]))
        loss.backward()
        opt.step()
        opt.clear_grad()


if __name__ == "__main__":
    main()
