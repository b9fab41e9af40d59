"""The widgets around and on the lanes: names, ruler, minimap, menus, keys."""
