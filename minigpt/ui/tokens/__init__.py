"""The tokens page."""
