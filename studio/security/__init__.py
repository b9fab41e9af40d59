"""What the studio does not do unasked: whom it trusts, what it started itself, what it keeps to itself."""
