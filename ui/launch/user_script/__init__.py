"""The side of the Launch page for scripts of the user's own."""
