"""What the writer of the events needs: the rank of this process, a full disk, losses that are no numbers."""
