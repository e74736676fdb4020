"""What all pages share, those of operators and of people: times, long texts, characters that are unseen, and errors."""
