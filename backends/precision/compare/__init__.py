"""Two dumps beside each other: which calls belong together, which differ, and which was the first."""
