"""Prometheus metrics of live push."""

from prometheus_client import Counter, Gauge

SOCKETS = Gauge("memoryhub_live_sockets", "Sockets of browsers that are open.", multiprocess_mode="livesum")
HEARS = Gauge(
    "memoryhub_live_hears", "1 while a web process hears of changes; the worst of all.", multiprocess_mode="livemin"
)
MESSAGES = Counter("memoryhub_live_messages", "Messages to the sockets of one process.", ["topic"])
REFUSALS = Counter("memoryhub_live_refusals", "Sockets that were not opened.", ["reason"])
