"""What the log says of requests under a host that is not the hub's."""

import logging

# Names of hosts have at most 253 characters; what a stranger sends may be thousands.
MAX_CHARS = 100


class ForeignHostFilter(logging.Filter):
    """Makes one line of a refused host: anybody can cause it, and the place in Django says nothing of why."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Let every record pass, as a warning without a traceback."""
        request = getattr(record, "request", None)
        host = "" if request is None else request.META.get("HTTP_HOST", request.META.get("SERVER_NAME", ""))
        record.levelno, record.levelname = logging.WARNING, "WARNING"
        record.exc_info = record.exc_text = None
        record.msg = "a request to the host %s is refused: it is none of MEMORYHUB_ALLOWED_HOSTS"
        record.args = (ascii(host if len(host) <= MAX_CHARS else f"{host[:MAX_CHARS]}..."),)
        return True
