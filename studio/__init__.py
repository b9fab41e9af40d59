"""The nouns and the machinery of Ascend Training Studio. Imports neither Qt nor a framework."""

__version__ = "0.1.0"
