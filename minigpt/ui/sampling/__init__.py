"""The sampling page."""
