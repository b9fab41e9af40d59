"""The operator in doubt by itself: msprobe's acc_check over it, on an NPU or a GPU."""
