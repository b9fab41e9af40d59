"""Pictures of a pair of tensors."""
