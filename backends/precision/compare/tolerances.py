"""Every number that a comparison decides by, as one value.

`join_dumps` takes a `Tolerances` and each later pass reads it from there, so that a proof may compare with another.
The formulas that the numbers stand in are in the help page "Precision: the formulas" (assets/help/en/
9b-precision-formulas.md). Where a number is from, each says:

- Format: it follows from a number format.
- Formula: it follows from the rounding analysis of Higham, Accuracy and Stability of Numerical Algorithms (2nd ed.,
  2002), chapters 1 to 4: one rounding is off by at most eps / 2, and errors of K summands at random grow by sqrt(K).
- Measured: `prove precision` sees it move by a factor of two; the pairs that move are named.
- Test: a named test fails where it moves far.
- Judgement: chosen so that no pair of healthy runs in tests/planted is named and the planted faults are, which a factor
  of two does not change. No law. A larger number allows more: more noise stays quiet, smaller faults are missed.

What `prove precision` said of thirteen networks that came after all numbers but `hidden_eps_share` (690 pairs with a
plant and 650 healthy ones, under noises with ten seeds), where every allowance is taken times a factor (23 Nov 2026, on
a CPU):

    factor          1/8      1/4      1/2      1        2        4        8
    false alarms    93.7 %   38.3 %   7.4 %    2.8 %    1.7 %    1.7 %    1.7 %
    told as equal   0.0 %    0.1 %    0.0 %    0.0 %    0.0 %    0.6 %    1.7 %

What it said of 184 pairs with a planted divergence, all named right, and of 41 healthy pairs, none named, before
`hidden_eps_share` was a quarter. "-1 named": one divergence less is named right; "+1 alarm": one healthy pair is named.
The tolerances of the optimizer (from same_setting to update_rounding_factor): of the 116 pairs of
tests/planted/optimizer_plants.py, 67 of whose 68 plants were named right then, and all now.

    tolerance              halved      doubled
    rounding_ulps          -           -1 named
    low_rounding_ulps      -           -
    backward_growth        +1 alarm    -
    kink_growth            -           -
    max_kappa_of_exponent  -           -1 named
    max_unknown_factor     -           -
    recurrent_rounding     not run     not run
    hidden_factor          -           -1 named
    hidden_eps_share       -           -
    hot_exponent           -1 named    -
    unrelated_error        -           -
    copy_growth            -           -
    untraced_growth        -           -
    recent_outputs         -           -
    branch_share           -           -
    argument_noise         -           -
    same_number            -           -
    update_ways            +1 alarm    -
    running_statistic_share not run     not run
    same_step_spread       -           -
    gradient_noise_share   -           -
    peer_factor            -           -
    unseen_matrix_drift    -           -
    unseen_vector_drift    -           -
    other_weights_error    -           -
    max_state_move         -           -
    update_spread          -           -
    flipped_share          -           -
    same_setting           -           -
    update_base            -           -
    update_base_growth     -           -
    update_growth          -           -
    gradient_growth        not run     not run
    rounded_gradient       not run     not run
    sums_factor            not run     not run
    unrelated_update       -           -
    update_evenness        -           -
    update_share           -           -20 named
    min_updates            -           -
    update_rounding_factor -           -
    ten_bit_error          +1 alarm    -
    product_share          -           -1 named, +4 alarms
    min_products           -           -
    random_norm_factor     -           -
    turned_share           not run     not run
    direction_growth       not run     not run
    direction_rounding     not run     not run
    direction_base         not run     not run
    extreme_margin         -           -
    digest_eps_share       -           -
    usual_dtype_share      -           -22 named, +8 alarms
    min_dtype_calls        -           -
    same_parameter         -           -
    other_kernel_calls     -           -
    other_program_share    -           -
    calls_to_input         -           -
    calls_to_other         -           -
    max_move               -           -
    growth.product         +1 alarm    -
    growth.sum             -           -
    growth.scale           -           -
    growth.norm            -           -1 named
    growth.soft            -           -
    growth.reduce          -           -
    growth.steep           -           -
    growth.other           -           -
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

LOW_PRECISION_EPS = 2.0**-10
"""Format: eps of float16. Formats of this eps and coarser have 16 bits or fewer: sums are kept in float32."""


class Growth(NamedTuple):
    """How much an error may grow in one operator beyond what the sizes of its tensors say, in the order of `Kind`.

    Judgement. Statistics show the errors of a few elements only, so an input's may be larger than it seems: 4. Where
    the slope varies between rows or channels 8, of an unknown operator 16, where the slope has no bound 32.

    Measured: `product` halved, the healthy CNN with hf32 products is named; `norm` doubled, "mindspore, eps / ulp" is
    missed."""

    product: float = 4.0
    sum: float = 4.0
    scale: float = 4.0
    norm: float = 8.0
    soft: float = 8.0
    reduce: float = 8.0
    steep: float = 32.0
    other: float = 16.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Tolerances:
    # Rounding of one operator

    rounding_ulps: float = 8.0
    """Two right kernels differ by so many eps. Formula: each is off by 1 to 4 ulp, in opposite directions at worst.
    Measured: doubled, "mindspore, eps / ulp" is missed."""
    low_rounding_ulps: float = 4.0
    """The same for 16 bits and fewer. Formula: their sums are kept in float32, and only the result is rounded."""
    growth: Growth = field(default_factory=Growth)
    backward_growth: float = 4.0
    """Factor on the growth of a backward. Judgement: its sums run over the batch, and it uses what its forward kept.
    Measured: halved, the healthy CNN with hf32 products is named."""
    kink_growth: float = 8.0
    """A further factor for a backward with a kink (ReLU, pooling). Judgement: where noise carries an element over the
    kink, its whole gradient comes or goes."""
    max_kappa_of_exponent: float = 64.0
    """Largest condition number of an exponential. Judgement: exp(-64) is 1.6e-28, so what is further than this from the
    largest exponent counts nothing in float32. Measured: doubled, "mindspore, eps / ulp" is missed."""
    max_unknown_factor: float = 16.0
    """Largest scaling of an error in an operator of unknown kind. Judgement."""

    recurrent_rounding: float = 4.0
    """A recurrence rounds at each of its steps and takes that over into the next. Measured: on a GPU (H200) against a
    CPU the results of an LSTM of ten steps were 37 units of the last place apart. Judgement: its factor."""

    # What statistics do not show

    hidden_factor: float = 8.0
    """An error may be so many times larger than the statistics of its tensor show, and than the distance of two golden
    runs. Judgement: statistics see the extremes, the mean and the norm, where errors of single elements cancel.
    Measured: doubled, "mindspore, eps / ulp" is missed."""
    hidden_eps_share: float = 1 / 4
    """Share of the coarsest eps on the way that may sit in a wider tensor unseen. Format: elements that fell to the
    other side of a rounding are one eps off and need not be the extremes; the growth of a product with the next tensor,
    4, makes a whole eps of a quarter. Measured: halved, queries of the decoder in bfloat16 times their rotary table are
    named."""
    hot_exponent: float = 8.0
    """Beyond this a softmax is mostly ones and zeros, which show no error. Judgement: exp(-8) is 3e-4.
    Measured: halved, "mindspore, eps / ulp" is missed."""
    unrelated_error: float = 0.1
    """From this allowance on everything is allowed: two runs that noisy have nothing in common. Judgement."""

    # Inputs

    copy_growth: float = 4.0
    """Growth between a traced output and an input with another value that only one side traced. Judgement: nothing but
    a copy or a hook is expected there."""
    untraced_growth: float = 16.0
    """Growth in what is not traced at all, over the largest recent level. Judgement."""
    recent_outputs: int = 64
    """The noise of what is not traced is that of so many last outputs. Judgement."""
    branch_share: float = 2.0**-10
    """In the backward, gradients of branches are added, and a small one may be lost: a change of less says nothing.
    Judgement, of the commit that brought tests/precision/test_traps.py."""
    argument_noise: float = 1e-5
    """A number among the arguments that came from a tensor may differ by the noise, and by no more than this.
    Judgement: numbers written in code differ by more."""
    same_number: float = 1e-9
    """Floats that differ by less are one number written twice. Judgement: text keeps float64 to 1e-16."""

    # Parameters after the first step

    update_ways: float = 2.0
    """Two healthy runs may be so many updates apart. Formula: Adam makes +lr or -lr of a gradient that is nothing but
    rounding, so the two are up to two updates apart. Measured: halved, three steps of a healthy Transformer with AdamW
    are named."""
    running_statistic_share: float = 0.25
    """A running mean or variance may differ by so much of its own move: the batches are the same, and only their noise
    comes in. Judgement: one that is not updated, or with another momentum, is a whole move or most of one apart."""
    same_step_spread: float = 4.0
    """Where the largest moves of most parameters are within this factor, every element may have moved by it (Adam).
    Judgement."""
    gradient_noise_share: float = 2.0**-7
    """Of the largest step of SGD: noise in a gradient that is zero but for it, against the largest gradient.
    Judgement."""
    peer_factor: float = 8.0
    """Where earlier updates are unknown, a parameter may be so many times the median of all apart. Judgement."""
    unseen_matrix_drift: float = 2.0**-10
    """The least that is allowed for a matrix there. Judgement."""
    unseen_vector_drift: float = 1.0
    """The same for a bias or another vector: anything, since the gradient of a bias before a norm is nothing but
    rounding. Formula."""
    other_weights_error: float = 1 / 80
    """A median distance beyond this is no noise but other weights. Test: test_other_weights.py, which came with it."""
    max_state_move: float = 0.5
    """MindSpore's dumps do not say what is a parameter: an input that moved by less than this in a step is one, since
    data are others each time. Judgement."""
    update_spread: float = 4.0
    """The noise of an update sits in single elements: of n, the norm and the mean hide sqrt(n) times what they show, of
    which a product of sqrt(n) summands shows its root; so this times the fourth root of n. Formula; its factor is
    judgement."""
    flipped_share: float = 1 / 8
    """Share of a parameter's drift that its statistics may hide where its gradients came from products of few bits.
    Judgement."""

    # The optimizer

    same_setting: float = 1e-6
    """A hyperparameter may differ by so much, relative. Format: schedules compute it in float32."""
    update_base: float = 2.0**-7
    """What an update may differ by where its gradient has noise. Judgement: a learning rate that is another one is
    further."""
    update_base_growth: float = 4096.0
    """Below that so many times the distance of its gradient, so that of equal gradients no update may differ: a
    parameter whose first step was bit-equal has no reason to drift. Judgement."""
    update_growth: float = 64.0
    """By how many times the distance of its gradient an update may differ. Judgement: Adam divides a gradient by its
    own size, so that the small ones of a tensor bring in their whole noise."""
    gradient_growth: float = 8.0
    """What the optimizer is given may differ by so many times what the backward shows: the sampled elements are not
    those that the statistics show, and a clipping multiplies by a norm with its own noise. Judgement."""
    rounded_gradient: float = 16.0
    """A gradient that is nothing but rounding is so many times the rounding of the largest one at most. Measured: of a
    bias before a norm 1e-7 of it."""
    sums_factor: float = 4.0
    """The norm of n sums with random signs may be off by so many times 1 / sqrt(n) where elements differ at random.
    Formula: that is its standard deviation; its factor is judgement."""
    direction_base: float = 2.0**-3
    """What the cosine of an update with its gradient may differ by where the gradient has noise. Judgement: one that
    has its sign changed in every second row is further. Measured: noise in gradients that are zero turns Adam's first
    update by half of that."""
    direction_growth: float = 2.0**14
    """Below that so many times the distance of its gradient. Judgement."""
    direction_rounding: float = 2.0**-10
    """The rounding of that cosine. Format: it is computed in float32."""
    unrelated_update: float = 0.5
    """From this allowance on an update may be anything. Judgement."""
    update_evenness: float = 2.0**-2
    """Within this share of what they differ by, most updates are the same multiple of the golden ones, or differ in
    proportion to the parameters. Judgement."""
    update_share: float = 0.5
    """Of the moves that are known so many have to differ for it to be the optimizer. Judgement: the largest element of
    a tensor may be one whose gradient is noise."""
    min_updates: int = 2
    """Fewer moves tell nothing. Judgement."""
    update_rounding_factor: float = 4.0
    """A move is known where it is so many times the rounding of its parameter. Judgement."""

    # Products of few bits (TF32, HF32)

    ten_bit_error: float = 2.0**-11
    """Format: half an eps of the 10 bits of mantissa that TF32 of GPUs and HF32 of NPUs keep. Measured:
    halved, the healthy CNN with hf32 products is named."""
    product_share: float = 0.75
    """Share of products that have to differ so for it to be the machine and not one operator. Judgement.
    Measured: doubled (never), four healthy pairs with hf32 products are named and one fault there is missed."""
    min_products: int = 3
    """Fewer products tell nothing. Judgement: one of two may be the wrong one."""
    random_norm_factor: float = 8.0
    """An error at random is this / sqrt(n) of its size in the norm: n elements are rounded, those of the smallest
    tensor of a product, such as the weights of a small convolution. Formula; its factor is judgement."""

    turned_share: float = 1 / 4
    """What noise has chosen otherwise differs in size by no more. Judgement: it turns what was nearly equal."""

    # Distances and dtypes

    extreme_margin: float = 2.0**-7
    """So near, relative, to the largest number of its dtype a value is one that masks are made of. Judgement: one
    rounding of bfloat16 in a sum before it."""
    digest_eps_share: float = 0.25
    """Share of an eps that tensors are apart whose digests differ and whose statistics do not. Judgement: less than one
    rounding, more than nothing."""
    usual_dtype_share: float = 0.75
    """A pair of dtypes is usual where so many tensors have it. Judgement: under autocast norms stay in float32.
    Measured: doubled (never), every other dtype is named: 22 divergences are missed and 8 healthy pairs named."""
    min_dtype_calls: int = 3
    """So many calls of a function are needed to say what is usual in one place. Judgement."""

    # Calls of one side

    same_parameter: float = 2.0**-13
    """Two layers' weights differ by more than this in their extremes. Judgement."""
    other_kernel_calls: int = 3
    """A function that one side calls so often and the other never is another implementation. Judgement."""
    other_program_share: float = 0.5
    """Where more of the forward calls have no partner, the two are different programs. Judgement."""
    calls_to_input: int = 8
    """A call that one side lacks explains a differing input at most so many operators later. Judgement."""
    calls_to_other: int = 3
    """The same for other differences, whose inputs look equal. Judgement."""
    max_move: int = 16
    """A call may have been moved by so many. Judgement."""

    def rounding(self, eps: float) -> float:
        """Return the relative difference of one result in two kernels that both round to `eps`."""
        return (self.low_rounding_ulps if eps >= LOW_PRECISION_EPS else self.rounding_ulps) * eps


TOLERANCES = Tolerances()
