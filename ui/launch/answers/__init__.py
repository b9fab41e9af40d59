"""Cards that show what a command of Launch answered."""
