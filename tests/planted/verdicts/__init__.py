"""Planted faults and healthy twins for the verdicts outside of Precision: a module for each part of the program.

Each module has `CASES`, a tuple of `VerdictCase`. `prove verdicts` judges all of them and prints both lists;
`tests/test_verdicts.py` those that need no training.
"""
