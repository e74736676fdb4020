"""Become a program that ends with the supervisor: `python -m memoryhub.process.child <its pid> <program>...`.

On Linux the kernel sends SIGTERM when the supervisor dies, however it dies. Elsewhere the next `manage.py up`
ends what is left (memoryhub.process.children).
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(argv: list[str]) -> None:
    """Tie this process to its parent and replace it with the program named in `argv`."""
    parent, program = int(argv[1]), argv[2:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit("The supervisor is gone.")
    os.execv(program[0], program)  # noqa: S606  (the supervisor's own command line)


if __name__ == "__main__":
    main(sys.argv)
