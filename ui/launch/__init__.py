"""What is on the Launch page beside the form."""
