"""Run a management command with the embedded database at hand."""

from django.core.management import execute_from_command_line


def execute(argv: list[str]) -> None:
    execute_from_command_line(argv)
