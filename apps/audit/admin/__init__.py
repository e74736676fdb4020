"""What every admin page has of the audit."""
