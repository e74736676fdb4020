"""The forgetting of a person: request, removal, scan and certificate (DESIGN D16)."""
