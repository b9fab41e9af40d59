"""The studio's own recipes; plain files with build(config) -> Recipe, free to be copied."""
