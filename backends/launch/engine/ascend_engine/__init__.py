"""The studio's own training code. Runs only in the training's process: python -m ascend_engine."""
