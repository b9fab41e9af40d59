"""What lies below the lanes: the selected slice, the range, what a search found, notes, and what the data holds."""
