"""The command line: `python -m minigpt COMMAND`."""

import sys

from minigpt.cli.commands import main

if __name__ == "__main__":
    sys.exit(main())
