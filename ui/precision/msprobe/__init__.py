"""Results of msprobe itself: its comparison, overflow check, graph and trend databases."""
