"""What to send to whoever mends the operator."""
