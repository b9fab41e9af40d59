"""The scanner of Python: syntax tree, scopes, canonical names, and the uses of the GPU stack in a module."""
