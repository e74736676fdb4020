"""The sources of problems: cheap functions without arguments, named by settings.PROBLEM_SOURCES."""
