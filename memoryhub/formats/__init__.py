"""Formats of dates and times, for each language in which those of Django do not fit."""
