"""Shapes: one step of a training, to see what goes through each cell of its network."""
