"""A comparison for whoever signs it off: one page that prints, each figure with the place that it is from."""
