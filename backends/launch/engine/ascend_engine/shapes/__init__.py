"""The shapes of a network: what goes into each of its layers and what comes out, as one step shows."""
