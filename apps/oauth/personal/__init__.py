"""The stores of what the sign-in of apps keeps of people."""
