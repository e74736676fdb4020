"""Times without full stops, since sentences end with one."""

DATETIME_FORMAT = "N j, Y, g:i A"
TIME_FORMAT = "g:i A"
