"""The corpus page."""
