"""The comparison of two dumps, from files to the first divergence.

The passes of one step of one rank, in the order in which `work` runs them:

1. `inputs` chooses and opens the dumps.
2. `alignment` says which call of the target is which of the golden side, and which have no partner.
3. `values.joined` puts the rows of aligned calls side by side, with the distance of each; `values.tensor_distance` goes
   by the elements where both sides have the tensors.
4. `judgement.drift` says by how much parameters may differ after earlier steps.
5. `judgement.judge` walks through the calls in execution order and says what each value may differ by.
6. `verdict.first_divergence` names the first divergence.
7. `builder` collects the columns of all passes, `comparison_files` writes them.

Every number that they decide by is in `tolerances`.
"""
