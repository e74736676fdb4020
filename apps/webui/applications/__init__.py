"""Applications: which keys reach what is a person's, what each learnt, and how they end that."""
