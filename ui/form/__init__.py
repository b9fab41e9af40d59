"""A form from a spec: its sections, fields and inputs."""
