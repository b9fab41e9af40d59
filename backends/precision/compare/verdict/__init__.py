"""The first divergence of a comparison, and what else a person is to know of it."""
