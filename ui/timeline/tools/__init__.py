"""The row above the lanes: search, filter, time mode, export."""
