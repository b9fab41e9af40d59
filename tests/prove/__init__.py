"""Long proofs: each module here has `prove()`, which gives its figures with a verdict under "passed".

`python bootstrap.py prove [name]` runs them and keeps the figures as JSON; `test` holds a short version of each.
"""
