"""What the shipped recipes have in any framework: their data, random bits and defaults."""
