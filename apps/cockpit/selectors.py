"""The door of `cockpit`: what the frame of every page of the admin shows of problems."""

from apps.cockpit.now.outlook import alarms_part, seen_problems
