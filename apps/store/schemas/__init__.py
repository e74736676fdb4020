"""Inputs and outputs of the store."""
