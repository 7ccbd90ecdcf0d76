# symptom   the temperature never changes
# cause     a module beside the script divides by its own global under no_grad
# command   why
# verdict   computed under no_grad
# line      with paddle.no_grad():
# affected  parts.temperature Registry.tables['b'].weight
import paddle
from parts import Registry, encode, make_head


def main():
    head = make_head()
    h = Registry.shared(encode(paddle.randn([3, 4])))
    loss = head(Registry.tables["a"](h)).sum()
    loss.backward()


if __name__ == "__main__":
    main()
