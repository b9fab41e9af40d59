"""Curves: watch a run and look at old ones."""

from studio.feature import Feature

FEATURE = Feature(id="curves", order=40, shows_runs="any", step="backends.curves.step:step")
