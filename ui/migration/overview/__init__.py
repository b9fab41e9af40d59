"""The overview: where the work is, which libraries and APIs are used, and the second opinion."""
