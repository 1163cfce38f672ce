"""``python -m skcamel``: the same as the ``skcamel`` command."""

import sys

from skcamel.cli import main

if __name__ == "__main__":
    sys.exit(main())
