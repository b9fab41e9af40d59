"""The shipped recipes in PyTorch, with the names of parameters that MindSpore gives them."""
