"""Set-up: what `bootstrap.py` needs to make `.venv`, and the package of a wheel. Python 3.6, standard library."""
