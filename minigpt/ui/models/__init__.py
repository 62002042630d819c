"""The models page."""
