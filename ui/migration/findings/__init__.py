"""The findings view: files, findings, their source, and what each one means."""
