"""What is recorded while a request or a command runs, and written once when it has ended."""
