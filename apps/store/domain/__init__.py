"""Operations of the store and their filters."""
