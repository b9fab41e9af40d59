"""The options of a user's script, read from its source without running it."""
