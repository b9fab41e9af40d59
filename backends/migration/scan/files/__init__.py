"""Scanners of everything that is not Python: shell, containers, configuration, requirements, notebooks, C++."""
