"""A few steps of a running training: profiled, or dumped."""
