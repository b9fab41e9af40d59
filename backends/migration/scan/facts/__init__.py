"""Facts about NPUs that a scan judges with."""

from __future__ import annotations

from backends.migration.scan.facts.facts import Facts, facts_for, facts_in

__all__ = ["Facts", "facts_for", "facts_in"]
