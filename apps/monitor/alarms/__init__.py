"""Alarms: each problem is sent once when it begins and once when it is over, by mail, to a webhook, or both."""
