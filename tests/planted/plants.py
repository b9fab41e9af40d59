"""The plants and what is true of each, and the pairs in which nothing is planted.

The answers were written from the models, before any comparison was asked. Where the dump cannot tell two answers
apart, both are right: a mask of booleans that is off by one has the same largest and smallest value; the weight that
was transposed has the same statistics, so only the result shows it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.planted.plant import AUTOCAST, EVERYWHERE, Answer, Order, Pair, Plant, pair_of

if TYPE_CHECKING:
    from collections.abc import Iterator


def _at(name: str, *places: str, direction: str = "forward") -> tuple[Answer, ...]:
    return (Answer(name=name.replace(".", r"\."), places=places, direction=direction),)


def _one_of(pattern: str, *places: str, direction: str = "forward") -> tuple[Answer, ...]:
    return (Answer(name=pattern, places=places, direction=direction),)


def _transformer(plant: str, kind: str, answers: tuple[Answer, ...], **more: object) -> Plant:
    return Plant(plant=plant, kind=kind, model="transformer", answers=answers, **more)  # type: ignore[arg-type]


def _cnn(plant: str, kind: str, answers: tuple[Answer, ...], **more: object) -> Plant:
    return Plant(plant=plant, kind=kind, model="cnn", answers=answers, **more)  # type: ignore[arg-type]


# Calls of block b: linear 6b query, 6b+1 key, 6b+2 value, 6b+3 out, 6b+4 wide, 6b+5 narrow; layer_norm 2b, 2b+1;
# gelu b; __add__ 2b+1, 2b+2; softmax, masked_fill and __truediv__ 0 in block 0 and 1 in block 2.
TRANSFORMER = (
    _transformer("eps", "eps", _at("Functional.layer_norm.2.forward", "argument")),
    _transformer("cast between", "dtype", _at("Functional.linear.10.forward", "input"), noise="kernels"),
    _transformer("half block", "dtype", _at("Functional.linear.11.forward", "input"), noise="threads"),
    _transformer("linear in bfloat16", "dtype", _at("Functional.linear.9.forward", "output"), noise="kernels"),
    _transformer("transposed", "transposed weight", _at("Functional.linear.9.forward", "input", "output"), noise="ulp"),
    _transformer("no residual", "dropped residual", _at("Tensor.__add__.4.forward", "missing"), noise="double"),
    _transformer("score scale", "wrong scale", _at("Tensor.__truediv__.1.forward", "argument"), block=2,
                 noise="autocast"),
    _transformer("scale 1.1", "wrong scale", _at("Tensor.__add__.2.forward", "input"), block=0, noise="autocast"),
    _transformer("scale 1.01", "wrong scale", _at("Tensor.__add__.6.forward", "input"), block=2, noise="ulp"),
    _transformer("scale 1.002", "wrong scale", _at("Tensor.__add__.4.forward", "input"), noise="double"),
    _transformer("linear 1.002", "wrong scale", _at("Functional.linear.10.forward", "output"), noise="kernels"),
    _transformer("linear 1.1", "wrong scale", _at("Functional.linear.4.forward", "output"), noise="hooked"),
    _transformer("mask made", "mask", _at("Tensor.masked_fill.0.forward", "input", "output", "argument"), block=0,
                 noise="threads"),
    _transformer("mask buffer", "mask", _at("Tensor.masked_fill.1.forward", "input", "output", "argument"), block=2,
                 noise="ulp"),
    _transformer("not causal", "mask", _at("Functional.scaled_dot_product_attention.0.forward", "argument"),
                 noise="double"),
    _transformer("in place", "in-place", _at("Functional.layer_norm.4.forward", "input"), block=2, noise="kernels"),
    _transformer("reordered", "reordered", _one_of(r"Functional\.linear\.[67]\.forward", *EVERYWHERE), noise="ulp"),
    _transformer("reordered", "reordered", _one_of(
        r"(Functional\.linear\.1[23]\.forward|Module\.blocks\.2\.attention\.(query|key)\.Linear\.forward\.0)",
        *EVERYWHERE), block=2, level="mix", noise="kernels"),
    _transformer("no last norm", "missing call", _at("Functional.layer_norm.6.forward", "missing"), noise="kernels"),
    _transformer("extra call", "extra call", _at("Functional.silu.0.forward", "extra"), noise="double"),
    _transformer("clamped", "in-place", _at("Tensor.__add__.4.forward", "input"), noise="ulp"),
    _transformer("wrong backward", "gradient only", _at("Functional.linear.11.backward", "input", direction="backward"),
                 noise="ulp"),
    _transformer("detached", "gradient only", (
        *_at("Functional.linear.13.backward", "missing", direction="backward"),
        *_at("Torch.matmul.2.backward", "output", direction="backward"),
        *_at("Torch.matmul.2.forward", "input", "argument")), block=2, noise="threads"),
    _transformer("softmax backward", "gradient only", _at("Torch.softmax.0.backward", "output", direction="backward"),
                 noise="kernels"),
    _transformer("norm backward", "gradient only", _at("Functional.layer_norm.3.backward", "output",
                                                       direction="backward"), noise="double"),
    _transformer("gradient scaled", "gradient only", _at("Functional.cross_entropy.0.backward", "input",
                                                         direction="backward"), noise="autocast"),
    _transformer("gelu", "activation", _at("Functional.gelu.1.forward", "argument"), noise="kernels"),
    _transformer("softmax dim", "dimension", _at("Torch.softmax.1.forward", "argument"), block=2, noise="threads"),
    _transformer("position", "index", (*_at("Functional.embedding.1.forward", "input"),
                                       *_at("Torch.arange.0.forward", *EVERYWHERE)), noise="double"),
    _transformer("label smoothing", "argument", _at("Functional.cross_entropy.0.forward", "argument"), noise="hooked"),
    _transformer("weight", "perturbed weight", _at("Functional.linear.10.forward", "input"), noise="double"),
    _transformer("one weight", "perturbed weight", _at("Functional.linear.11.forward", "input"), noise="kernels",
                 task="tensor"),
    _transformer("dropout", "dropout left on", _at("Functional.dropout.0.forward", "argument", "output"), block=0,
                 noise="ulp"),
    _transformer("other batch", "data", _at("Functional.embedding.0.forward", "input"), noise="double"),
    _transformer("rolled", "data", _at("Functional.embedding.0.forward", "input"), task="md5", noise="kernels"),
    _transformer("nan", "nan", _at("Torch.softmax.1.forward", "output"), noise="autocast"),
    _transformer("gelu tail", "wrong kernel", _at("Functional.gelu.2.forward", "output"), noise="threads",
                 task="tensor"),
    _transformer("linear 1.1", "one rank only", _at("Functional.linear.4.forward", "output"), ranks=2, plant_rank=1,
                 noise="ulp"),
    _transformer("eps", "one step only", _at("Functional.layer_norm.2.forward", "argument"), steps=3, plant_step=1,
                 optimizer="sgd", noise="kernels"),
    _transformer("linear 1.1", "one step only", _at("Functional.linear.4.forward", "output"), steps=3, plant_step=1,
                 optimizer="adamw", noise="ulp"),
    _transformer("score scale", "wrong scale", _at("Tensor.__truediv__.0.forward", "argument"), block=0, noise="hf32"),
    _transformer("linear 1.1", "wrong kernel", _at("Module.blocks.0.wide.Linear.forward.0", "output"), level="L0",
                 noise="kernels"),
    _transformer("cast between", "dtype", _at("Module.blocks.1.wide.Linear.forward.0", "input"), level="L0",
                 noise="ulp"),
    _transformer("eps", "eps", _at("Module.blocks.1.before_attention.LayerNorm.forward.0", "output"), level="L0",
                 noise="kernels"),
    _transformer("weight", "perturbed weight", _at("Module.blocks.1.wide.Linear.forward.0", "input"), level="L0",
                 noise="double"),
    _transformer("cast between", "dtype", _one_of(
        r"(Functional\.linear\.10\.forward|Module\.blocks\.1\.wide\.Linear\.forward\.0)", "input"), level="mix",
        noise="double"),
)  # fmt: skip

# The stem is convolution and norm 0, block b has 2b+1 and 2b+2, and __add__ b; relu 2b+1 and 2b+2.
CNN = (
    _cnn("norm eps", "eps", _at("Functional.batch_norm.3.forward", "argument"), noise="kernels"),
    _cnn("norm eps", "eps", _at("Module.blocks.1.first_norm.BatchNorm2d.forward.0", "output"), level="L0", noise="ulp"),
    _cnn("convolution in bfloat16", "dtype", _at("Module.blocks.1.second.Conv2d.forward.0", "output"), level="L0",
         noise="kernels"),
    _cnn("momentum", "argument", _at("Functional.batch_norm.3.forward", "argument"), noise="ulp"),
    _cnn("running", "running statistics", _at("Functional.batch_norm.7.forward", "input"), noise="double"),
    _cnn("leaky", "activation", (
        *_at("Functional.leaky_relu.0.forward", "extra"), *_at("Functional.relu.3.forward", "missing")),
        noise="threads"),
    _cnn("no shortcut", "dropped residual", _at("Tensor.__add__.1.forward", "missing"), noise="kernels"),
    _cnn("mean dim", "reduction", _at("Tensor.mean.0.forward", "argument"), noise="ulp"),
    _cnn("loss sum", "reduction", _at("Functional.cross_entropy.0.forward", "argument"), noise="double"),
    _cnn("flipped", "transposed weight", _at("Functional.conv2d.3.forward", "input", "output"), noise="threads"),
    _cnn("one channel", "perturbed weight", _at("Functional.batch_norm.4.forward", "input"), noise="kernels"),
    _cnn("norm after relu", "reordered", (
        *_at("Functional.relu.3.forward", *EVERYWHERE), *_at("Functional.batch_norm.3.forward", *EVERYWHERE)),
        noise="double"),
    _cnn("no relu", "missing call", _at("Functional.relu.5.forward", "missing"), block=2, noise="threads"),
    _cnn("twice", "extra call", (*_at("Tensor.__sub__.0.forward", "extra"), *_at("Functional.relu.7.forward", "extra")),
         noise="ulp"),
    _cnn("dilation", "argument", _at("Functional.conv2d.3.forward", "argument"), noise="double"),
    _cnn("written over", "in-place", _at("Functional.conv2d.4.forward", "input"), noise="ulp"),
    _cnn("bfloat16 block", "dtype", _at("Functional.conv2d.4.forward", "input"), noise="threads"),
    _cnn("pixels", "data", _at("Functional.conv2d.0.forward", "input"), noise="double"),
    _cnn("convolution in bfloat16", "dtype", _at("Functional.conv2d.4.forward", "output"), noise="ulp"),
    _cnn("convolution element", "wrong kernel", _at("Functional.conv2d.3.forward", "output"), task="tensor",
         noise="kernels"),
    _cnn("convolution backward", "gradient only", _at("Functional.conv2d.4.backward", "output", direction="backward"),
         noise="kernels"),
    _cnn("inf", "nan", _at("Functional.conv2d.5.forward", "output"), noise="threads"),
    _cnn("pooling", "wrong scale", _one_of(r"(Tensor\.mean\.0\.forward)", "output"), level="mix", noise="double"),
    _cnn("convolution in bfloat16", "one rank only", _at("Functional.conv2d.4.forward", "output"), ranks=2,
         plant_rank=1, noise="double"),
    _cnn("bfloat16 block", "one step only", _at("Functional.conv2d.4.forward", "input"), steps=3, plant_step=2,
         optimizer="sgd", noise="threads"),
)  # fmt: skip


def _mindspore(plant: str, kind: str, answers: tuple[Answer, ...], **more: object) -> Plant:
    return Plant(plant=plant, kind=kind, model="mindspore", answers=answers, **more)  # type: ignore[arg-type]


# Block b: LayerNorm 2b, 2b+1; MatMul 6b query, +1 key, +2 value, +3 out, +4 wide, +5 narrow; masked_fill, softmax,
# __truediv__, gelu b; __add__ 2b, 2b+1. A dense layer asks for the shape of its input, reshapes, then multiplies: the
# same value three times, so each of the three is a right answer.
MINDSPORE = (
    _mindspore("eps", "eps", _at("Primitive.layer_norm.LayerNorm.2.forward", "output", "argument"), noise="ulp"),
    _mindspore("cast", "dtype", _one_of(
        r"Primitive\.(shape_op\.Shape\.10|reshape\.Reshape\.21|matmul\.MatMul\.10)\.forward", "input"), noise="double"),
    _mindspore("transposed", "transposed weight", _at("Primitive.matmul.MatMul.9.forward", "input", "output"),
               noise="ulp"),
    _mindspore("no residual", "dropped residual", _at("Tensor.__add__.3.forward", "missing"), noise="hooked"),
    _mindspore("score scale", "wrong scale", _at("Tensor.__truediv__.0.forward", "argument"), block=0, noise="ulp"),
    _mindspore("mask", "mask", _at("Functional.masked_fill.1.forward", "input", "output", "argument"), noise="double"),
    _mindspore("softmax dim", "dimension", _at("Functional.softmax.1.forward", "argument"), noise="hooked"),
    _mindspore("gelu", "activation", _at("Functional.gelu.0.forward", "argument"), block=0, noise="double"),
    _mindspore("wrong backward", "gradient only", _at("Primitive.reshape.Reshape.24.backward", "input",
                                                      direction="backward"), noise="ulp"),
    _mindspore("extra call", "extra call", _at("Functional.clamp.0.forward", "extra"), noise="ulp"),
    _mindspore("no last norm", "missing call", _one_of(
        r"(Primitive\.layer_norm\.LayerNorm\.4|Tensor\.to\.[89])\.forward", "missing"), noise="double"),
    _mindspore("label smoothing", "argument", _at("Functional.cross_entropy.0.forward", "argument"), noise="ulp"),
    _mindspore("weight", "perturbed weight", _at("Primitive.matmul.MatMul.10.forward", "input"), noise="ulp"),
    _mindspore("one weight", "perturbed weight", _at("Primitive.matmul.MatMul.5.forward", "input"), block=0,
               noise="double", task="tensor"),
    _mindspore("other batch", "data", _one_of(
        r"Primitive\.(get_shp\.Shape|reshape_flat\.Reshape|gather\.Gather)\.0\.forward", "input"), noise="ulp"),
    _mindspore("matmul 1.002", "wrong scale", _at("Primitive.matmul.MatMul.9.forward", "output"), noise="ulp"),
    _mindspore("softmax 1.1", "wrong scale", _at("Functional.softmax.1.forward", "output"), noise="hooked"),
    _mindspore("norm 1.01", "wrong scale", _at("Primitive.layer_norm.LayerNorm.2.forward", "output"), noise="ulp",
               level="mix"),
    _mindspore("nan", "nan", _at("Functional.gelu.1.forward", "output"), noise="double"),
    _mindspore("softmax 1.1", "one step only", _at("Functional.softmax.1.forward", "output"), steps=3, plant_step=1,
               optimizer="sgd", noise="ulp"),
    _mindspore("softmax 1.1", "one rank only", _at("Functional.softmax.1.forward", "output"), ranks=2, plant_rank=1,
               noise="double"),
)  # fmt: skip

TORCH = TRANSFORMER + CNN
PLANTS = TORCH + MINDSPORE
TORCH_NOISES = ("ulp", "kernels", "double", "threads", "autocast", "hooked", "hf32")
MINDSPORE_NOISES = ("ulp", "double", "hooked")


def pairs(frameworks: tuple[str, ...] = ("torch", "mindspore")) -> Iterator[Pair]:
    """Each plant on a clean pair and on its noisy one, then pairs without a plant."""
    for plant in chosen(frameworks):
        yield pair_of(plant, "")
        yield pair_of(plant, plant.noise)
    if "torch" in frameworks:
        yield from healthy("transformer")
        yield from healthy("cnn")
    if "mindspore" in frameworks:
        yield from healthy_mindspore()


def chosen(frameworks: tuple[str, ...]) -> tuple[Plant, ...]:
    return (TORCH if "torch" in frameworks else ()) + (MINDSPORE if "mindspore" in frameworks else ())


def healthy(model: str) -> Iterator[Pair]:
    for noise in TORCH_NOISES:
        yield _nothing(noise, Order(model=model, autocast=AUTOCAST.get(noise, "")))
    for noise, optimizer in (("kernels", "adamw"), ("ulp", "adamw"), ("double", "adamw"), ("threads", "sgd")):
        yield _nothing(noise, Order(model=model, steps=3, optimizer=optimizer))
    for noise, level, task in (
        ("ulp", "mix", "statistics"),
        ("kernels", "L1", "tensor"),
        ("double", "L0", "md5"),
        ("hf32", "L0", "statistics"),
    ):
        yield _nothing(noise, Order(model=model, level=level, task=task))
    yield _nothing("kernels", Order(model=model, ranks=2))


def healthy_mindspore() -> Iterator[Pair]:
    for noise in MINDSPORE_NOISES:
        yield _nothing(noise, Order(model="mindspore"))
    yield _nothing("ulp", Order(model="mindspore", steps=3, optimizer="sgd"))
    yield _nothing("ulp", Order(model="mindspore", level="mix"))
    yield _nothing("double", Order(model="mindspore", ranks=2))


def _nothing(noise: str, order: Order) -> Pair:
    return Pair(target=order, golden=replace(order, noise=noise))


def every_noise() -> Iterator[Pair]:
    """Each plant under every noise that does not bury it: half precision buries most of them, and of float64 msprobe
    keeps only the largest and smallest value."""
    for plant in PLANTS:
        for noise in MINDSPORE_NOISES if plant.model == "mindspore" else TORCH_NOISES:
            if noise != "autocast" and (noise, plant.kind) != ("double", "mask"):
                yield pair_of(plant, noise)
