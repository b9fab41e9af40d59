"""Pixels, labels and arrows of the lanes, made from the columns of a trace."""
