"""The same training once more, of which only what lies around a suspect is kept, with its tensors."""
