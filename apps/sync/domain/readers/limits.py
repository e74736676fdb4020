"""How much of a file is read. Every text that leaves a reader is at most so long."""

MAX_PATH_CHARS = 600
MAX_ID_CHARS = 200
MAX_TITLE_CHARS = 300
MAX_REFERENCE_CHARS = 300
MAX_REFERENCES = 100
MAX_TAG_CHARS = 100
MAX_TAGS = 50
MAX_CONSTRAINT_CHARS = 1_000
MAX_CONSTRAINTS = 100
MAX_STATUS_CHARS = 2_000

# A summary that is taken from the text, and one that was written as such.
SUMMARY_CHARS = 300
WRITTEN_SUMMARY_CHARS = 600

# Before marks are taken out of a piece of text.
MAX_MARKED_CHARS = 4_000

MAX_FRONT_MATTER_CHARS = 64_000
MAX_FRONT_MATTER_DEPTH = 20
MAX_FRONT_MATTER_NODES = 5_000

MAX_HEADER_LINES = 100
