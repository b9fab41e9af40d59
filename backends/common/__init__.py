"""Readers that features share, named by noun."""
