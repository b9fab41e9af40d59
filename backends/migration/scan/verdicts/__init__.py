"""From an occurrence to its verdict: which rule applies, why, and how sure that is."""
