# symptom  the bias is never updated
# cause    the parameter list names the weight only
# command  why
# verdict  not in parameter_list
# line     pairs = paddle.static.append_backward(loss, parameter_list=["out.w_0"])
import paddle

paddle.enable_static()
x = paddle.static.data("x", [4, 3])
loss = paddle.mean(paddle.static.nn.fc(x, 2, name="out"))
pairs = paddle.static.append_backward(loss, parameter_list=["out.w_0"])
