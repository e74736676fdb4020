"""What guards calls to chat models: budget, circuit breaker and token rate, shared by all processes.

`attempts` applies all of them in two short transactions around a call. The other modules have the statements and
decisions of one guard each; what they raise rolls back the whole transaction of their caller.
"""
