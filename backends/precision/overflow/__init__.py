"""The first NaN or Inf of a dump: ours, and msprobe's overflow check beside it."""
