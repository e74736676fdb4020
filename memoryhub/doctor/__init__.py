"""What `manage.py doctor` looks at besides the problems of *Now*: functions that return findings and change nothing."""
