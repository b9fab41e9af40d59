"""How far two tensors are from each other."""
