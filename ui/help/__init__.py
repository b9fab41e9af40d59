"""Help: the pages of `assets/help`."""
