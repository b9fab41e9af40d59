"""The environment check: what two trainings began with, compared before their operators are."""
