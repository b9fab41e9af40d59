"""One operator by itself: a Python file and the inputs that a training gave it."""
