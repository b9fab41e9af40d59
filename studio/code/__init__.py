"""The code that a run executed: its commit and patch, and digests of its source files."""
