"""Check first: a few steps of a training, measured in a child that is guarded in memory, disk and time."""
