"""Words for translation: found in sources, kept in one catalog for each app, and checked. Needs Babel."""
