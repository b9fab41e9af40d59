"""The Capture view: what a training dumps, and what that costs."""
