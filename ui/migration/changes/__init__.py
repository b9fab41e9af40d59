"""The changes view: the plan of a migration as a diff, the decisions on its hunks, and what was applied."""
