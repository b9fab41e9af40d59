"""What is planted in the networks of tests/planted/networks, what is true of each, and their healthy pairs.

The answers were written from the networks' code and from lists of the calls of their healthy dumps, before any
comparison was asked. Where a dump cannot tell two answers apart, both are right: of the same numbers in another order
the statistics are equal, so only the result shows it.

A row is the plant, its kind, and what names it rightly: "CALL PLACES", several with a bar between. A call is written
without its ".forward"; one that ends in ".backward" is of the backward.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import cycle
from typing import TYPE_CHECKING, Any

from tests.planted import networks
from tests.planted.plant import AUTOCAST, Answer, Order, Pair, Plant, pair_of

if TYPE_CHECKING:
    from collections.abc import Iterator

SDPA = "Functional.scaled_dot_product_attention"
FLASH = "_scaled_dot_product_flash_attention_for_cpu"
CYCLE = ("half", "kernels", "order", "atomics", "threads", "layout", "double", "ulp")
"""Noises of the noisy pairs of plants that name none of their own."""
NOISES = ("half", "bfloat16", "hf32", "order", "double", "float16", "atomics", "threads", "layout", "kernels", "ulp")
WITH_ATTENTION = ("decoder", "experts", "vit", "diffusion")


def _answer(text: str) -> Answer:
    call, places = text.split(" ")
    direction = "backward" if ".backward" in call else "forward"
    is_whole = direction == "backward" or call.startswith("Module")
    name = re.escape(call if is_whole else f"{call}.forward")
    return Answer(name=name, places=tuple(places.split(",")), direction=direction)


DECODER: tuple[tuple[Any, ...], ...] = (
    ("eps", "eps", "Tensor.__add__.6 argument"),
    ("rotary base", "positions", "Tensor.__mul__.11 input"),
    ("rotary position", "positions", "Tensor.__mul__.11 input"),
    ("rotary sign", "positions", "Tensor.__mul__.12 input"),
    ("keys not turned", "missing call", "Tensor.__mul__.13 missing"),
    ("value scale", "wrong scale", f"{SDPA}.1 input"),
    ("heads tiled", "wrong order", f"{SDPA}.1 input,output", {"noise": "order"}),
    ("not causal", "mask", f"{SDPA}.1 argument"),
    ("cast", "dtype", "Functional.linear.11 input"),
    ("gate swapped", "wrong order", "Functional.silu.1 input"),
    ("gelu", "activation", "Functional.gelu.0 extra|Functional.silu.1 missing"),
    ("wrong backward", "gradient only", "Tensor.__mul__.17.backward input"),
    ("no residual", "dropped residual", "Tensor.__add__.11 missing"),
    ("weight", "perturbed weight", "Functional.linear.13 input"),
    ("last norm scaled", "wrong scale", "Functional.linear.14 input"),
    ("padding counted", "argument", "Functional.cross_entropy.0 argument"),
    ("words shifted", "data", "Functional.embedding.0 input,output"),
    ("kernel mm 9 bfloat16", "dtype", "Functional.linear.9 output"),
    ("kernel silu 1 tail 0.1", "wrong kernel", "Functional.silu.1 output"),
    (f"kernel {FLASH} 1 times 1.02", "wrong kernel", f"{SDPA}.1 output"),
    ("kernel rsqrt 2 times 1.002", "wrong kernel", "Torch.rsqrt.2 output"),
    ("kernel mm 5 nan", "nan", "Functional.linear.5 output"),
)

EXPERTS: tuple[tuple[Any, ...], ...] = (
    ("eps", "eps", "Functional.layer_norm.1 argument"),
    ("cast", "dtype", "Functional.linear.2 input"),
    ("first only", "argument", "Torch.topk.0 argument"),
    ("weights as they are", "missing call", "Tensor.sum.0 missing|Tensor.__truediv__.0 missing"),
    ("experts swapped", "wrong order", "Functional.linear.5 input"),
    ("expert scaled", "wrong scale", "Tensor.__mul__.2 input"),
    ("wrong backward", "gradient only", "Functional.linear.6.backward input"),
    ("smooth", "argument", "Functional.cross_entropy.0 argument"),
    ("balance", "argument", "Tensor.__rmul__.1 argument"),
    ("key and value", "wrong order", f"{SDPA}.0 input"),
    ("expert weight", "perturbed weight", "Functional.linear.9 input"),
    ("kernel addmm 2 times 1.005", "wrong scale", "Functional.linear.2 output"),
    ("kernel _softmax 0 bfloat16", "dtype", "Torch.softmax.0 output"),
    ("kernel gelu 2 tail 0.2", "wrong kernel", "Functional.gelu.2 output"),
    ("kernel index_add 1 times 1.02", "wrong kernel", "Tensor.index_add.1 output"),
    ("kernel native_layer_norm 0 times 1.01", "wrong kernel", "Functional.layer_norm.0 output"),
    (f"kernel {FLASH} 0 times 1.02", "wrong kernel", f"{SDPA}.0 output"),
)

# LSTM and GRU cells are traced as modules only.
CELL, LSTM, MIX = "Module.second.GRUCell.forward", "Module.first.LSTM.forward.0", {"level": "mix"}
RECURRENT: tuple[tuple[Any, ...], ...] = (
    ("eps", "eps", "Functional.layer_norm.0 argument"),
    ("cast", "dtype", f"{LSTM} input", MIX),
    ("cast", "dtype", "Functional.layer_norm.0 input"),
    ("state of ones", "argument", f"{LSTM} input,argument,output", MIX),
    ("state scaled", "wrong scale", f"{CELL}.3 input", MIX),
    ("state forgotten", "wrong order", f"{CELL}.4 input", MIX),
    ("backwards", "wrong order", "Functional.linear.0 input,output|Functional.cross_entropy.0 output"),
    ("backwards", "wrong order", "Functional.linear.0 input", {"task": "tensor"}),
    ("wrong backward", "gradient only", "Module.second.GRUCell.backward.5 input", MIX),
    ("tanh", "extra call", "Torch.tanh.0 extra"),
    ("loss sum", "reduction", "Functional.cross_entropy.0 argument"),
    ("gates swapped", "transposed weight", f"{LSTM} input,output", MIX),
    ("gates swapped", "transposed weight", "Functional.layer_norm.0 input"),
    ("forget bias", "perturbed weight", f"{LSTM} input", MIX),
    ("cell weight", "perturbed weight", f"{CELL}.0 input", MIX),
    ("tags shifted", "data", "Functional.cross_entropy.0 input,output"),
    ("kernel native_layer_norm 0 bfloat16", "dtype", "Functional.layer_norm.0 output"),
    ("kernel _log_softmax 0 times 1.01", "wrong kernel", "Functional.cross_entropy.0 output"),
)

SCAN: tuple[tuple[Any, ...], ...] = (
    ("not causal", "index", "Functional.silu.2 input"),
    ("cast", "dtype", "Functional.linear.5 input"),
    ("wrong backward", "gradient only", "Tensor.__add__.18.backward input"),
    ("sigmoid gate", "activation", "Torch.sigmoid.0 extra|Functional.silu.3 missing"),
    ("softplus beta", "argument", "Functional.softplus.1 argument"),
    ("delta scaled", "wrong scale", "Tensor.__mul__.23 input"),
    ("state scaled", "wrong scale", "Tensor.__mul__.34 input"),
    ("no skip", "missing call", "Tensor.__mul__.40 missing|Tensor.__add__.18 missing"),
    ("decay", "perturbed weight", "Torch.exp.2 input"),
    ("skip weight", "perturbed weight", "Tensor.__mul__.40 input"),
    ("kernel exp 3 times 1.001", "wrong kernel", "Torch.exp.3 output"),
    ("kernel mm 5 bfloat16", "dtype", "Functional.linear.5 output"),
    ("kernel convolution 1 times 1.01", "wrong scale", "Functional.conv1d.1 output"),
    ("kernel softplus 1 times 1.01", "wrong kernel", "Functional.softplus.1 output"),
    ("kernel rsqrt 2 times 1.005", "wrong kernel", "Torch.rsqrt.2 output"),
)

UNET: tuple[tuple[Any, ...], ...] = (
    ("circular", "argument", "Functional.pad.0 extra|Functional.conv2d.2 input,argument"),
    ("groups", "argument", "Functional.group_norm.2 argument"),
    ("eps", "eps", "Functional.group_norm.3 argument"),
    ("cast", "dtype", "Functional.conv2d.3 input"),
    ("average pooling", "reduction", "Functional.max_pool2d.0 missing|Functional.avg_pool2d.0 extra"),
    ("wrong backward", "gradient only", "Functional.silu.9.backward input"),
    ("class weights", "argument", "Functional.cross_entropy.0 input,argument"),
    ("skip scaled", "wrong scale", "Functional.conv2d.8 input"),
    ("skip zero", "dropped residual", "Functional.conv2d.8 input"),
    ("parts swapped", "wrong order", "Functional.conv2d.8 input,output"),
    ("parts swapped", "wrong order", "Functional.conv2d.8 input", {"task": "tensor"}),
    ("transposed weight", "transposed weight", "Functional.conv2d.6 input,output"),
    ("norm weight", "perturbed weight", "Functional.group_norm.4 input"),
    ("kernel convolution 3 bfloat16", "dtype", "Functional.conv2d.3 output"),
    ("kernel convolution 6 times 1.02", "wrong scale", "Functional.conv_transpose2d.0 output"),
    ("kernel native_group_norm 5 times 1.005", "wrong kernel", "Functional.group_norm.5 output"),
    ("kernel silu 4 tail 0.1", "wrong kernel", "Functional.silu.4 output"),
    ("kernel max_pool2d_with_indices 1 times 1.03", "wrong kernel", "Functional.max_pool2d.1 output"),
    ("kernel convolution_backward 4.1 times 1.05", "gradient only", "Functional.conv2d.7.backward output"),
    ("kernel native_group_norm_backward 2 times 1.02", "gradient only", "Functional.group_norm.7.backward output"),
)

GAN: tuple[tuple[Any, ...], ...] = (
    ("eps", "eps", "Functional.batch_norm.1 argument"),
    ("cast", "dtype", "Functional.conv_transpose2d.0 input"),
    ("sigmoid", "activation", "Torch.sigmoid.0 extra|Torch.tanh.0 missing"),
    ("slope", "argument", "Functional.leaky_relu.0 argument"),
    ("pictures scaled", "wrong scale", "Functional.conv2d.2 input"),
    ("not detached", "gradient only", "Functional.conv2d.2 input,argument"
     "|Functional.conv2d.2.backward output,extra|Torch.tanh.0.backward input"),
    ("smoothed label", "argument", "Functional.binary_cross_entropy_with_logits.0 input"),
    ("label turned", "data", "Functional.binary_cross_entropy_with_logits.2 input"),
    ("wrong backward", "gradient only", "Functional.linear.3.backward input"),
    ("norm not training", "argument", "Functional.batch_norm.0 argument|Tensor.add_.0 missing"),
    ("kernel weight", "perturbed weight", "Functional.conv2d.1 input"),
    ("pictures of 0 to 1", "data", "Functional.conv2d.0 input"),
    ("kernel convolution 0 times 1.01", "wrong scale", "Functional.conv_transpose2d.0 output"),
    ("kernel tanh 0 tail 0.1", "wrong kernel", "Torch.tanh.0 output"),
    ("kernel leaky_relu 3 times 1.05", "wrong kernel", "Functional.leaky_relu.3 output"),
    ("kernel binary_cross_entropy_with_logits 1 times 1.1", "wrong kernel",
     "Functional.binary_cross_entropy_with_logits.1 output"),
    ("kernel convolution_backward 0.1 times 1.1", "gradient only", "Functional.conv2d.5.backward output"),
)  # fmt: skip

RESNET: tuple[tuple[Any, ...], ...] = (
    ("eps", "eps", "Functional.batch_norm.6 argument"),
    ("cast", "dtype", "Functional.conv2d.6 input"),
    ("scaled", "wrong scale", "Tensor.__add__.1 input"),
    ("wrong backward", "gradient only", "Functional.batch_norm.7.backward input"),
    ("relu first", "extra call", "Functional.relu.6 extra|Functional.relu.7 extra"),
    ("stride elsewhere", "argument", "Functional.conv2d.8 argument", {"block": 2}),
    ("momentum", "argument", "Functional.batch_norm.0 argument"),
    ("average pooling", "reduction", "Functional.max_pool2d.0 missing|Functional.avg_pool2d.0 extra"),
    ("largest", "reduction", "Functional.adaptive_max_pool2d.0 extra|Functional.adaptive_avg_pool2d.0 missing"),
    ("norm not training", "argument", "Functional.batch_norm.5 argument|Tensor.add_.5 missing"),
    ("flipped", "transposed weight", "Functional.conv2d.6 input,output"),
    ("norm bias", "perturbed weight", "Functional.batch_norm.7 input"),
    ("channels turned", "data", "Functional.conv2d.0 input,output"),
    ("kernel convolution 7 bfloat16", "dtype", "Functional.conv2d.7 output"),
    ("kernel convolution 4 times 1.003", "wrong scale", "Functional.conv2d.4 output"),
    ("kernel max_pool2d_with_indices 0 times 1.01", "wrong kernel", "Functional.max_pool2d.0 output"),
    ("kernel convolution_backward 4.1 times 1.05", "gradient only", "Functional.conv2d.7.backward output"),
    ("kernel convolution 10 inf", "nan", "Functional.conv2d.10 output"),
)

VIT: tuple[tuple[Any, ...], ...] = (
    ("eps", "eps", "Functional.layer_norm.2 argument"),
    ("cast", "dtype", "Functional.linear.6 input"),
    ("gelu", "activation", "Functional.gelu.1 argument"),
    ("wrong backward", "gradient only", "Functional.linear.7.backward input"),
    ("no layer scale", "missing call", "Tensor.__mul__.3 missing"),
    ("query scaled", "wrong scale", f"{SDPA}.1 input"),
    ("query and key", "wrong order", f"{SDPA}.1 input"),
    ("patches turned", "wrong order", "Tensor.__add__.0 input,output"),
    ("mean of all", "reduction", "Tensor.mean.0 extra"),
    ("places", "perturbed weight", "Tensor.__add__.0 input"),
    ("layer scale weight", "perturbed weight", "Tensor.__mul__.2 input"),
    ("kernel addmm 5 bfloat16", "dtype", "Functional.linear.5 output"),
    ("kernel gelu 1 times 1.01", "wrong kernel", "Functional.gelu.1 output"),
    ("kernel native_layer_norm 4 times 1.003", "wrong kernel", "Functional.layer_norm.4 output"),
    (f"kernel {FLASH} 0 bfloat16", "dtype", f"{SDPA}.0 output"),
    ("kernel convolution 0 tail 0.1", "wrong kernel", "Functional.conv2d.0 output", {"noise": "order"}),
    (f"kernel {FLASH}_backward 0.1 times 1.05", "gradient only", f"{SDPA}.1.backward output"),
    ("kernel gelu_backward 1 times 1.05", "gradient only", "Functional.gelu.0.backward output"),
)

DIFFUSION: tuple[tuple[Any, ...], ...] = (
    ("eps", "eps", "Functional.group_norm.3 argument"),
    ("cast", "dtype", "Functional.group_norm.4 input"),
    ("scale and shift", "wrong order", "Tensor.__radd__.1 input"),
    ("scale without one", "missing call", "Tensor.__radd__.1 missing"),
    ("wrong backward", "gradient only", "Functional.conv2d.4.backward input"),
    ("residual scaled", "wrong scale", "Tensor.__add__.5 input"),
    ("time span", "argument", "Tensor.__rmul__.0 argument"),
    ("sine first", "wrong order", "Functional.linear.0 input,output"),
    ("schedule", "missing call", "Tensor.__pow__.0 missing"),
    ("predicts the picture", "data", "Functional.mse_loss.0 input"),
    ("l1", "reduction", "Functional.l1_loss.0 extra|Functional.mse_loss.0 missing"),
    ("time weight", "perturbed weight", "Functional.linear.5 input"),
    ("times shifted", "data", "Tensor.__truediv__.0 input"),
    ("kernel convolution 3 bfloat16", "dtype", "Functional.conv2d.3 output"),
    ("kernel native_group_norm 4 times 1.01", "wrong kernel", "Functional.group_norm.4 output"),
    ("kernel silu 3 tail 0.1", "wrong kernel", "Functional.silu.3 output"),
    (f"kernel {FLASH} 0 times 1.01", "wrong kernel", f"{SDPA}.0 output"),
    ("kernel mse_loss 0 times 1.05", "wrong kernel", "Functional.mse_loss.0 output"),
    ("kernel sin 0 times 1.01", "wrong kernel", "Tensor.sin.0 output"),
)

GRAPH: tuple[tuple[Any, ...], ...] = (
    ("edges turned", "index", "Tensor.__add__.2 input"),
    ("cast", "dtype", "Functional.linear.4 input"),
    ("slope", "argument", "Functional.leaky_relu.1 argument"),
    ("weights scaled", "wrong scale", "Tensor.__mul__.1 input"),
    ("wrong backward", "gradient only", "Tensor.index_add.3.backward input"),
    ("relu", "activation", "Functional.relu.0 extra|Functional.elu.1 missing"),
    ("floor", "argument", "Tensor.__add__.3 argument"),
    ("no mean", "missing call", "Tensor.__truediv__.2 missing"),
    ("score weight", "perturbed weight", "Functional.linear.4 input"),
    ("weight transposed", "transposed weight", "Functional.linear.3 input,output"),
    ("edge lost", "data", "Tensor.__add__.0 input"),
    ("kernel index_add 1 times 1.05", "wrong kernel", "Tensor.index_add.1 output"),
    ("kernel addmm 1 bfloat16", "dtype", "Functional.linear.3 output"),
    ("kernel exp 1 times 1.02", "wrong kernel", "Torch.exp.1 output"),
    ("kernel elu 0 tail 0.1", "wrong kernel", "Functional.elu.0 output"),
    ("kernel _log_softmax 0 times 1.02", "wrong kernel", "Functional.cross_entropy.0 output"),
    ("kernel leaky_relu 0 swapped", "wrong order", "Functional.leaky_relu.0 output", {"task": "tensor"}),
)

TCN: tuple[tuple[Any, ...], ...] = (
    ("dilation", "argument", "Functional.pad.2 argument|Functional.conv1d.3 input,argument"),
    ("cast", "dtype", "Functional.dropout.1 input"),
    ("dropout", "dropout left on", "Functional.dropout.1 argument,output"),
    ("elu", "activation", "Functional.elu.0 extra|Functional.relu.4 missing"),
    ("scaled", "wrong scale", "Tensor.__add__.1 input"),
    ("wrong backward", "gradient only", "Functional.relu.4.backward input"),
    ("no residual", "dropped residual", "Tensor.__add__.1 missing"),
    ("not causal", "index", "Functional.pad.2 argument|Functional.conv1d.3 input,output"),
    ("huber", "reduction", "Functional.smooth_l1_loss.0 extra|Functional.mse_loss.0 missing"),
    ("loss sum", "reduction", "Functional.mse_loss.0 argument"),
    ("length of weight", "perturbed weight", "Functional.conv1d.3 input"),
    ("bias", "perturbed weight", "Functional.conv1d.4 input"),
    ("series scaled", "data", "Functional.conv1d.0 input"),
    ("kernel convolution 4 bfloat16", "dtype", "Functional.conv1d.4 output"),
    ("kernel convolution 2 times 1.01", "wrong scale", "Functional.conv1d.2 output"),
    ("kernel relu 3 tail 0.1", "wrong kernel", "Functional.relu.3 output"),
    ("kernel mse_loss 0 times 1.02", "wrong kernel", "Functional.mse_loss.0 output"),
    ("kernel convolution_backward 1 times 1.03", "gradient only", "Functional.conv1d.6.backward output"),
)

VAE: tuple[tuple[Any, ...], ...] = (
    ("cast", "dtype", "Functional.linear.0 input"),
    ("variance for deviation", "argument", "Tensor.__rmul__.0 argument"),
    ("code scaled", "wrong scale", "Functional.linear.2 input"),
    ("wrong backward", "gradient only", "Tensor.__add__.0.backward input"),
    ("silu", "activation", "Functional.silu.0 extra|Functional.relu.3 missing"),
    ("loss mean", "reduction", "Functional.binary_cross_entropy_with_logits.0 argument"),
    ("beta", "argument", "Tensor.__rmul__.2 argument"),
    ("weight", "perturbed weight", "Functional.conv_transpose2d.0 input"),
    ("bias", "perturbed weight", "Functional.linear.1 input"),
    ("noise rolled", "data", "Tensor.__mul__.0 input,output"),
    ("kernel exp 0 times 1.005", "wrong kernel", "Torch.exp.0 output"),
    ("kernel convolution 1 bfloat16", "dtype", "Functional.conv2d.1 output"),
    ("kernel addmm 0 times 1.002", "wrong scale", "Functional.linear.0 output"),
    ("kernel binary_cross_entropy_with_logits 0 times 1.01", "wrong kernel",
     "Functional.binary_cross_entropy_with_logits.0 output"),
    ("kernel convolution 3 nan", "nan", "Functional.conv_transpose2d.1 output"),
)  # fmt: skip

CONTRASTIVE: tuple[tuple[Any, ...], ...] = (
    ("mish", "activation", "Functional.mish.0 extra|Functional.softplus.1 missing"),
    ("cast", "dtype", "Functional.linear.3 input"),
    ("feature scaled", "wrong scale", "Functional.normalize.1 input"),
    ("length", "argument", "Functional.normalize.1 argument"),
    ("bag sum", "argument", "Functional.embedding_bag.0 argument"),
    ("wrong backward", "gradient only", "Functional.normalize.1.backward input"),
    ("detached", "gradient only", "Tensor.t.0 input|Functional.normalize.1.backward missing|Tensor.t.0.backward missing"
     "|Torch.matmul.0 input,argument|Torch.matmul.0.backward output"),
    ("labels shifted", "data", "Functional.cross_entropy.0 input,output|Tensor.roll.0 extra"),
    ("not turned", "wrong order", "Functional.cross_entropy.1 input,output|Tensor.t.1 missing"),
    ("no half", "missing call", "Tensor.__truediv__.0 missing"),
    ("temperature", "perturbed weight", "Tensor.exp.0 input"),
    ("word", "perturbed weight", "Functional.embedding_bag.0 input"),
    ("kernel softplus 1 times 1.01", "wrong kernel", "Functional.softplus.1 output"),
    ("kernel addmm 2 bfloat16", "dtype", "Functional.linear.2 output"),
    ("kernel _embedding_bag 0 times 1.01", "wrong kernel", "Functional.embedding_bag.0 output"),
    ("kernel mm 0 element 3", "wrong kernel", "Torch.matmul.0 output"),
    ("kernel _log_softmax 1 times 1.01", "wrong kernel", "Functional.cross_entropy.1 output"),
)  # fmt: skip

ROWS = {
    "decoder": DECODER, "experts": EXPERTS, "recurrent": RECURRENT, "scan": SCAN, "unet": UNET, "gan": GAN,
    "resnet": RESNET, "vit": VIT, "diffusion": DIFFUSION, "graph": GRAPH, "tcn": TCN, "vae": VAE,
    "contrastive": CONTRASTIVE,
}  # fmt: skip


def _plants() -> Iterator[Plant]:
    noises = cycle(CYCLE)
    for model, rows in ROWS.items():
        for plant, kind, answers, *more in rows:
            options: dict[str, Any] = {"noise": next(noises)} | (more[0] if more else {})
            truth = tuple(_answer(text) for text in answers.split("|"))
            yield Plant(plant=plant, kind=kind, model=model, answers=truth, **options)


PLANTS = tuple(_plants())


def pairs() -> Iterator[Pair]:
    """Each plant on a clean pair and on its noisy one, then the healthy pairs."""
    for plant in PLANTS:
        yield pair_of(plant, "")
        yield pair_of(plant, plant.noise)
    yield from healthy()


def every_noise() -> Iterator[Pair]:
    """Each plant under every noise in float32."""
    for plant in PLANTS:
        for noise in (*CYCLE, "hf32"):
            yield pair_of(plant, noise)


def healthy(seed: int = 0) -> Iterator[Pair]:
    """Each network under each kind of noise, the fused attention against the one by hand, and some of three steps."""
    for model in networks.NAMES:
        for noise in NOISES:
            order = Order(model=model, autocast=AUTOCAST.get(noise, ""))
            yield Pair(target=order, golden=replace(order, noise=noise, seed=seed))
    for model in WITH_ATTENTION:
        fused, written = Order(model=model), Order(model=model, noise=networks.WRITTEN)
        yield Pair(target=fused, golden=written)
        yield Pair(target=written, golden=fused)
    for model, optimizer, noise in (
        ("decoder", "adamw", "half"), ("experts", "adamw", "kernels"), ("resnet", "momentum", "half"),
        ("scan", "adam", "order"), ("recurrent", "rmsprop", "half"), ("vit", "adamw", "hf32"),
    ):  # fmt: skip
        order = Order(model=model, steps=3, optimizer=optimizer)
        yield Pair(target=order, golden=replace(order, noise=noise, seed=seed))
