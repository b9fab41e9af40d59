"""Home: the project, its next step, its runs."""
