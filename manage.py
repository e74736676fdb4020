#!/usr/bin/env python
"""Command line of MemoryHub; `manage.py up` starts everything, `manage.py help` lists the rest."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
    from memoryhub.process.commandline import execute

    execute(sys.argv)


if __name__ == "__main__":
    main()
