"""The package of an installed studio: the repository's folders lie in it and are imported under their own names.

In the wheel this file is `ascend_training_studio/__init__.py` (see `[tool.hatch.build]` in pyproject.toml).
"""

import sys
from pathlib import Path


def main() -> int:
    """Run the command `ascend-studio`; its parts come before other packages that are called studio, ui or backends."""
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from studio.__main__ import main as studio_main

    return studio_main()
