"""What the window shows of a trace: which lanes, which range, what is selected, found and marked."""
