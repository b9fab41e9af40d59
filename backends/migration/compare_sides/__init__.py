"""Both sides of a migration captured, and their dumps compared."""
