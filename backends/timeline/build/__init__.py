"""From what the readers gathered to columns in the cache."""
