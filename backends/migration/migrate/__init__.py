"""Edits that make a GPU project run on NPUs: planned as hunks, decided on, applied to a copy or a branch, undone."""
