"""What guards calls to chat models: budget, circuit breaker and token rate, shared by all processes.

`attempts` applies all of them in two short transactions around a call; the other modules hold them one by one. Each of
their functions is a transaction of its own, or a part of the caller's: without a savepoint, so what it raises rolls
back the whole transaction.
"""
