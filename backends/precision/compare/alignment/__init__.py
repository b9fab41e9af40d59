"""Which call of the target is which of the golden side, and which calls only one side has."""
