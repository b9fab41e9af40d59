"""What the Migration page is made of."""
