"""Samples that can only be gone through, batch by batch, as those of a training."""
