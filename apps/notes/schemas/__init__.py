"""Inputs and outputs of notes."""
