"""Ask what is known, in one's own words."""
