"""DeepFM: first and second order of a factorization machine and a deep net over the same embeddings of 26 fields."""

import math

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F


class DeepFMLayer(nn.Layer):
    def __init__(self, sparse_feature_number, sparse_feature_dim, dense_feature_dim, sparse_num_field, layer_sizes):
        super().__init__()
        self.fm = FM(sparse_feature_number, sparse_feature_dim, dense_feature_dim, sparse_num_field)
        self.dnn = DNN(sparse_feature_dim, dense_feature_dim, dense_feature_dim + sparse_num_field, layer_sizes)
        self.bias = paddle.create_parameter(
            shape=[1],
            dtype=paddle.get_default_dtype(),
            default_initializer=paddle.nn.initializer.Constant(value=0.0),
        )

    def forward(self, sparse_inputs, dense_inputs):
        y_first_order, y_second_order, feat_embeddings = self.fm(sparse_inputs, dense_inputs)
        y_dnn = self.dnn(feat_embeddings)
        return F.sigmoid(y_first_order + y_second_order + y_dnn + self.bias)


class FM(nn.Layer):
    def __init__(self, sparse_feature_number, sparse_feature_dim, dense_feature_dim, sparse_num_field):
        super().__init__()
        init_value_ = 0.1
        self.embedding_one = nn.Embedding(
            sparse_feature_number,
            1,
            padding_idx=0,
            weight_attr=paddle.ParamAttr(
                initializer=paddle.nn.initializer.TruncatedNormal(
                    mean=0.0, std=init_value_ / math.sqrt(float(sparse_feature_dim))
                )
            ),
        )
        self.embedding = nn.Embedding(sparse_feature_number, sparse_feature_dim, padding_idx=0)
        self.dense_w_one = paddle.create_parameter(
            shape=[dense_feature_dim],
            dtype=paddle.get_default_dtype(),
            default_initializer=paddle.nn.initializer.Constant(value=1.0),
        )
        self.dense_w = paddle.create_parameter(
            shape=[1, dense_feature_dim, sparse_feature_dim],
            dtype=paddle.get_default_dtype(),
            default_initializer=paddle.nn.initializer.Constant(value=1.0),
        )

    def forward(self, sparse_inputs, dense_inputs):
        # first order
        sparse_inputs_concat = paddle.concat(sparse_inputs, axis=1)
        sparse_emb_one = self.embedding_one(sparse_inputs_concat)
        dense_emb_one = paddle.unsqueeze(paddle.multiply(dense_inputs, self.dense_w_one), axis=2)
        y_first_order = paddle.sum(sparse_emb_one, 1) + paddle.sum(dense_emb_one, 1)

        # second order: half of the square of the sum less the sum of the squares
        sparse_embeddings = self.embedding(sparse_inputs_concat)
        dense_inputs_re = paddle.unsqueeze(dense_inputs, axis=2)
        dense_embeddings = paddle.multiply(dense_inputs_re, self.dense_w)
        feat_embeddings = paddle.concat([sparse_embeddings, dense_embeddings], 1)
        summed_features_emb_square = paddle.square(paddle.sum(feat_embeddings, 1))
        squared_sum_features_emb = paddle.sum(paddle.square(feat_embeddings), 1)
        y_second_order = 0.5 * paddle.sum(summed_features_emb_square - squared_sum_features_emb, 1, keepdim=True)
        return y_first_order, y_second_order, feat_embeddings


class DNN(nn.Layer):
    def __init__(self, sparse_feature_dim, dense_feature_dim, num_field, layer_sizes):
        super().__init__()
        self.width = num_field * sparse_feature_dim
        sizes = [self.width, *layer_sizes, 1]
        acts = ["relu" for _ in range(len(layer_sizes))] + [None]
        self._mlp_layers = []
        for i in range(len(layer_sizes) + 1):
            linear = nn.Linear(
                in_features=sizes[i],
                out_features=sizes[i + 1],
                weight_attr=paddle.ParamAttr(initializer=paddle.nn.initializer.Normal(std=1.0 / math.sqrt(sizes[i]))),
            )
            self.add_sublayer(f"linear_{i}", linear)
            self._mlp_layers.append(linear)
            if acts[i] == "relu":
                act = nn.ReLU()
                self.add_sublayer(f"act_{i}", act)
                self._mlp_layers.append(act)

    def forward(self, feat_embeddings):
        y_dnn = paddle.reshape(feat_embeddings, [-1, self.width])
        for n_layer in self._mlp_layers:
            y_dnn = n_layer(y_dnn)
        return y_dnn


def batches(count, size=4):
    rng = np.random.RandomState(20)
    for _ in range(count):
        label = rng.randint(0, 2, size=(size, 1)).astype("int64")
        sparse = [rng.randint(1, 50, size=(size, 1)).astype("int64") for _ in range(6)]
        dense = rng.rand(size, 3).astype(paddle.get_default_dtype())
        yield paddle.to_tensor(label), [paddle.to_tensor(x) for x in sparse], paddle.to_tensor(dense)


class DygraphModel:
    def create_model(self):
        return DeepFMLayer(50, 5, 3, 6, [16, 8])

    def create_loss(self, pred, label):
        cost = paddle.nn.functional.binary_cross_entropy(
            input=pred, label=paddle.cast(label, dtype=paddle.get_default_dtype())
        )
        return paddle.mean(x=cost)

    def create_optimizer(self, dy_model):
        return paddle.optimizer.Adam(learning_rate=0.001, lazy_mode=True, parameters=dy_model.parameters())

    def create_metrics(self):
        return ["auc"], [paddle.metric.Auc("ROC")]

    def train_forward(self, dy_model, metrics_list, batch_data):
        label, sparse_tensor, dense_tensor = batch_data
        pred = dy_model.forward(sparse_tensor, dense_tensor)
        loss = self.create_loss(pred, label)
        predict_2d = paddle.concat(x=[1 - pred, pred], axis=1)
        for metric in metrics_list:
            metric.update(preds=predict_2d.numpy(), labels=label.numpy())
        return loss


def network():
    return DygraphModel().create_model()


def loss(net):
    return DygraphModel().train_forward(net, [], next(batches(1)))


if __name__ == "__main__":
    recipe = DygraphModel()
    dy_model = recipe.create_model()
    optimizer = recipe.create_optimizer(dy_model)
    names, metrics = recipe.create_metrics()
    dy_model.train()
    for batch in batches(1):
        optimizer.clear_grad()
        cost = recipe.train_forward(dy_model, metrics, batch)
        cost.backward()
        optimizer.step()
    print(names[0], 0 <= metrics[0].accumulate() <= 1)
