"""Facts about NPUs that a scan judges with."""

from __future__ import annotations

from backends.migration.scan.facts.facts import Facts, facts_of_interpreter, facts_of_project

__all__ = ["Facts", "facts_of_interpreter", "facts_of_project"]
