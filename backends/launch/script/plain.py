"""What a plain script has in place of the studio's recorder. Its source goes into the scripts."""


def tell(step, values):  # type: ignore[no-untyped-def]
    """A line of numbers, each written so that it reads back as the same one."""
    print(f"step {step}  " + "  ".join(f"{name} {float(value)!r}" for name, value in values.items()), flush=True)
