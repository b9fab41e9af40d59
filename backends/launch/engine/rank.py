"""What a launcher starts for each rank: msrun takes a script, and mixes the arguments of a module with its own.

It stands outside the package: a script's folder comes first on Python's path, and the package has files named like
libraries (safetensors). Python 3.7 syntax.
"""

import sys

from ascend_engine.parallel import ranks

if __name__ == "__main__":
    sys.exit(ranks.rank())
