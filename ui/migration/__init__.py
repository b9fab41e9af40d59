"""The Migration page and its four views, each in a folder of its own."""
