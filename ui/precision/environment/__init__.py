"""The Environment view: configuration checks and the proof of determinism."""
