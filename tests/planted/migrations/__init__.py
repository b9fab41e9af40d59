"""Migrations with a planted mistake, and good ones, certified without an import of PyTorch for each rehearsal."""
