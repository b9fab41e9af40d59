"""What happens to a run that is nobody's doing: a full disk, a folder that is moved or deleted."""
