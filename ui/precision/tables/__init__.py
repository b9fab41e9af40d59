"""The table and the module tree of a comparison."""
