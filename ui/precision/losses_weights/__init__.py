"""The Losses and weights view."""
