"""Hostile material, the commands and pages that meet it, and what is counted while they do."""
