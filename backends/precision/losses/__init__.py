"""The losses of two runs, step by step."""
