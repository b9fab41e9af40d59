"""Precision: which operator was the first to go wrong, and why."""

from studio.feature import Feature

FEATURE = Feature(id="precision", order=50, actions=())
