"""Pieces of the Timeline page."""
