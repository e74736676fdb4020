"""My days: what happened to a person, day by day in their time zone, and forgetting it."""
