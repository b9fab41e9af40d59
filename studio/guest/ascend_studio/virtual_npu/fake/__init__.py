"""The virtual NPU without numbers: tensors that have a size and no memory, by torch's FakeTensor."""
