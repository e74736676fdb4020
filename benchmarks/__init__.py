"""Measurements of the hub: speed of the API, the timeline, the gateway and the index, quality of conflict detection.

A Django app of its own, so that its commands are found; the product runs without it and imports nothing of it.
"""
