"""Whether two English texts say the same in other words."""
