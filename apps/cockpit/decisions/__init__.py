"""The queue of decisions for the keyboard: see, decide, undo."""
