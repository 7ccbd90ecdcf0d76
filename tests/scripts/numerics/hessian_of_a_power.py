# symptom   the product with the Hessian is NaN where a weight is 0
# cause     the slope of |w|^1.5 has none at 0
# command   nan
# verdict   with x = 0
# line      return (w.abs() ** 1.5).sum()
# affected  w
import paddle


def penalty(w):
    return (w.abs() ** 1.5).sum()


def main():
    w = paddle.to_tensor([0.0, 1.0, 4.0], stop_gradient=False)
    (slope,) = paddle.grad(penalty(w), w, create_graph=True)
    product = (slope * paddle.ones([3])).sum()
    product.backward()


if __name__ == "__main__":
    main()
