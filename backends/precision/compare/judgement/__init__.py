"""What each value may differ by, and where a difference is more than that."""
