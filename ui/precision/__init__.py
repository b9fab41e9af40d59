"""Pieces of the Precision page."""
