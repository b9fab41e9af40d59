"""Divergences planted on purpose, with what is true of each: the examination of `compare`."""
