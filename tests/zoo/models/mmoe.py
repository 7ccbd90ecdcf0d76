"""Multi-gate mixture of experts: shared experts, a gate and a tower for each of two tasks, the sum of both losses."""

import math

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class MMoELayer(nn.Layer):
    def __init__(self, feature_size, expert_num, expert_size, tower_size, gate_num):
        super().__init__()
        self.expert_num = expert_num
        self.expert_size = expert_size
        self.tower_size = tower_size
        self.gate_num = gate_num

        self._param_expert = []
        for i in range(self.expert_num):
            linear = self.add_sublayer(
                name="expert_" + str(i),
                sublayer=nn.Linear(
                    feature_size,
                    expert_size,
                    weight_attr=nn.initializer.XavierNormal(),
                    bias_attr=nn.initializer.Constant(value=0.1),
                ),
            )
            self._param_expert.append(linear)

        self._param_gate, self._param_tower, self._param_tower_out = [], [], []
        for i in range(self.gate_num):
            self._param_gate.append(self.add_sublayer("gate_" + str(i), nn.Linear(feature_size, expert_num)))
            self._param_tower.append(self.add_sublayer("tower_" + str(i), nn.Linear(expert_size, tower_size)))
            self._param_tower_out.append(self.add_sublayer("tower_out_" + str(i), nn.Linear(tower_size, 2)))

    def forward(self, input_data):
        expert_outputs = []
        for i in range(self.expert_num):
            expert_outputs.append(F.relu(self._param_expert[i](input_data)))
        expert_concat = paddle.concat(x=expert_outputs, axis=1)
        expert_concat = paddle.reshape(expert_concat, [-1, self.expert_num, self.expert_size])

        output_layers = []
        for i in range(self.gate_num):
            cur_gate = F.softmax(self._param_gate[i](input_data))
            cur_gate = paddle.reshape(cur_gate, [-1, self.expert_num, 1])
            cur_gate_expert = paddle.multiply(x=expert_concat, y=cur_gate)
            cur_gate_expert = paddle.sum(x=cur_gate_expert, axis=1)
            cur_tower = F.relu(self._param_tower[i](cur_gate_expert))
            out = F.softmax(self._param_tower_out[i](cur_tower))
            output_layers.append(paddle.clip(out, min=1e-15, max=1.0 - 1e-15))
        return output_layers


def network():
    return MMoELayer(feature_size=9, expert_num=4, expert_size=6, tower_size=8, gate_num=2)


def loss(net):
    rng = np.random.RandomState(8)
    data = paddle.to_tensor(rng.randn(5, 9).astype(paddle.get_default_dtype()))
    income = paddle.to_tensor(rng.randint(0, 2, size=(5, 1)).astype("int64"))
    marital = paddle.to_tensor(rng.randint(0, 2, size=(5, 1)).astype("int64"))
    pred_income, pred_marital = net(data)
    cost_income = F.cross_entropy(input=pred_income, label=income, use_softmax=False)
    cost_marital = F.cross_entropy(input=pred_marital, label=marital, use_softmax=False)
    return paddle.mean(cost_income) + paddle.mean(cost_marital)


if __name__ == "__main__":
    paddle.seed(12345)
    model = network()
    optimizer = paddle.optimizer.Adagrad(learning_rate=0.01, parameters=model.parameters())
    cost = loss(model)
    assert not math.isnan(float(cost))
    cost.backward()
    optimizer.step()
    optimizer.clear_grad()
