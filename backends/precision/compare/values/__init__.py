"""The values of aligned calls beside each other, and how far apart they are."""
