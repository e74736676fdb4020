"""The parts of `manage.py timeline`: a module for each, with a SUBCOMMAND in it."""
