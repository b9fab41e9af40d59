"""The window: rail, top bar, menus, palette, strip. It imports no feature."""
