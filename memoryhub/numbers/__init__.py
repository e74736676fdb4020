"""The sources of numbers over time: functions of a `SampleContext` that return numbers by series."""
