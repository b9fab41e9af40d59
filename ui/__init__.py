"""The window: the only Qt. Widgets show and ask; what is computed comes from `backends` and `studio`."""
