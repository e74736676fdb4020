"""The web UI as an app of a phone or a computer: its manifest, its service worker, and the page without a network."""
