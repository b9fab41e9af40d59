"""Export: the weights of a run's checkpoint as the framework's own file: .ckpt of MindSpore, .pth of PyTorch."""
