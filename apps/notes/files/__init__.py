"""Notes as files on the disk, which people and programs write as well."""
