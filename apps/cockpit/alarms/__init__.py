"""*Alarms*: to whom the hub sends what is wrong with it."""
