"""Export: the weights of a run's checkpoint as MindSpore's own .ckpt file."""
