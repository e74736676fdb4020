"""What people see of `manage.py up` and `prepare`: a spinner on a terminal, plain lines elsewhere."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rich.console import Console
from rich.text import Text

console = Console(highlight=False, soft_wrap=True)


@contextmanager
def step(label: str) -> Iterator[None]:
    """Show that `label` is being done, then how long it took."""
    began = time.monotonic()
    if console.is_terminal:
        with console.status(f"{label} …"):
            yield
    else:
        yield
    console.print(Text.assemble(("  ✓ ", "green"), f"{label} ", (f"({time.monotonic() - began:.1f} s)", "dim")))


def say(text: str, style: str = "") -> None:
    """Print one line of the hub's own."""
    with suppress(OSError):  # the terminal may be gone while the hub runs on, or ends because of it
        console.print(Text(text, style=style))


def say_for(name: str, line: str) -> None:
    """Print a line of one of the hub's processes."""
    with suppress(OSError):
        console.print(Text.assemble((f"{name:>9} │ ", "cyan"), Text.from_ansi(line)))


def print_credentials(
    *,
    admin_username: str | None,
    admin_password: str | None,
    api_key: str | None,
    notice: str | None,
) -> None:
    """Print what the first start made; it cannot be read again later."""
    if admin_password or api_key:
        say("")
        say("  First start. Keep these, they are shown only now:", "bold yellow")
    if admin_password:
        say(f"  Admin user         {admin_username}")
        say(f"  Admin password     {admin_password}")
    if api_key:
        say(f"  Operator API key   {api_key}")
    if notice:
        say(f"  {notice}", "yellow")
