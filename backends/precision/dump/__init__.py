"""What a capture left: dump folders, their calls and tensors."""
