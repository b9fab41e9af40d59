"""How a profile gets into the window: the start view, the child process that reads it, recent profiles."""
