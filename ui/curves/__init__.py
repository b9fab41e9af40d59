"""Pieces of the curves page."""
