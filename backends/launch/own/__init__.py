"""A program of the user's own, as it is: a Python file, a module, a shell script, a launcher's line."""
