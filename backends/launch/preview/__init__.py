"""What a parallel strategy would cost, estimated without a card."""
