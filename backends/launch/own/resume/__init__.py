"""Going on from a checkpoint that a program of the user's own wrote: which one, by which option, and what is lost."""
