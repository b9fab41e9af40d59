"""The Compare view: the two captures that are chosen, and the comparison that is shown."""
