"""The engine in PyTorch: what differs from MindSpore. The rest of the package serves both."""
