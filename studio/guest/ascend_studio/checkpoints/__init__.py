"""Which checkpoints a training wrote, and when each of them was done."""
