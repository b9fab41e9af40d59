"""Checkpoints: written, verified, pruned, resumed from, exported."""
