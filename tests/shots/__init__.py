"""Pictures of every page in every state, from real runs; `tests/ui/widgets/test_looks.py` finds faults in them."""
