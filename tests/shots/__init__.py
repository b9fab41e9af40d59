"""Pictures of every page in every state, from real runs; `tests/ui/test_looks.py` finds faults in them."""
