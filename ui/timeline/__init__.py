"""The Timeline tab: page, state, drawing and panes."""
