"""Run a benchmark: `uv run -m benchmarks [COMMAND] [OPTIONS]`; without a command, list them."""

import os
import pkgutil
import sys

from benchmarks.management import commands

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
    from memoryhub.process.commandline import execute

    names = sorted(module.name for module in pkgutil.iter_modules(commands.__path__))
    if len(sys.argv) < 2 or sys.argv[1] not in names:
        sys.exit("usage: uv run -m benchmarks COMMAND [OPTIONS]\ncommands: " + ", ".join(names))
    execute(["manage.py", *sys.argv[1:]])
