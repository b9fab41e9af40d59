"""训练样例：定义训练什么。其余的由 Studio 完成：训练步、混合精度、检查点、曲线。

本文件可直接训练。逐段改成自己的内容即可。
"""

import numpy as np
from ascend_engine.recipe import Recipe
from mindspore import nn, ops

# 与本文件同目录的模块可以像普通脚本一样导入：
# from my_network import Network


class Network(nn.Cell):
    """网络：输入一个 batch，输出一个 batch。

    在 jit 和 graph 模式下会被编译，因此 construct() 中只使用 MindSpore 算子和 self 的属性，
    不要打印，也不要使用 numpy。
    """

    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Dense(2, 32),
            nn.ReLU(),
            nn.Dense(32, 32),
            nn.ReLU(),
            nn.Dense(32, 2),
        )

    def construct(self, points):
        return self.layers(points)


def loss(outputs, labels):
    """一个 batch 对应一个数，即各样本损失的均值。也可以使用 nn.CrossEntropyLoss() 这样的 nn.Cell。"""
    return ops.cross_entropy(outputs, labels)


def accuracy(outputs, labels):
    """指标的形式与损失函数相同。名为 accuracy 的指标越高越好，其他指标越低越好。
    启动页的“保留最佳”可选 loss、accuracy 和 eval_loss。"""
    return (outputs.argmax(axis=1) == labels).float().mean()


def make_data(samples, seed):
    """一对 numpy 数组：输入和标签，第一维是样本数。

    float64 会转为 float32，int64 会转为 int32。数据太大时，可以改为提供支持 len(data) 和 data[numbers] 的对象：
    numbers 是样本编号的数组，返回这些样本的一对数组。
    也可以是两列的 mindspore.dataset 数据管道，或返回 batch 迭代器的函数。

    数据应只取决于样本编号，这样续训才能做到逐比特一致。
    """
    random = np.random.default_rng(seed)
    points = random.uniform(-1, 1, (samples, 2))
    radius = np.hypot(points[:, 0], points[:, 1])
    return points, radius < 0.8  # 是否在圆内


def build(config):
    """Studio 只调用一次。config 包含启动页上的全部选项，例如 config.batch、config.seed。"""
    points, inside = make_data(2000, seed=0)
    eval_points, eval_inside = make_data(500, seed=1)
    network = Network()
    return Recipe(
        network=network,
        loss=loss,
        # None：使用启动页上的优化器、学习率和权重衰减。也可以用 network.trainable_params() 创建自己的优化器，
        # 启动页的学习率同样会作用于它。自带优化器时，还可以用 train_step=… 自带训练步：
        # (inputs, labels) -> loss，自行更新权重。
        optimizer=None,
        train_data=(points, inside.astype(np.int32)),
        # 不参与训练的样本，用于计算指标；没有的话，这两项都可以省略。
        eval_data=(eval_points, eval_inside.astype(np.int32)),
        metrics={"accuracy": accuracy},
        # 启动页开启重计算时，可重新计算激活值的 Cell，例如：
        # recompute=tuple(network.blocks),
    )
