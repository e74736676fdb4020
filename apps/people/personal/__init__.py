"""What the record of erasures itself holds of people."""
