"""Turn what the readers gathered into columns in the cache."""
