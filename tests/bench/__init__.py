"""Benchmarks: each module here has `figures()`; they measure and do not judge the machine they run on.

`python bootstrap.py bench [name]` prints every figure beside its peer and its bar.
"""
