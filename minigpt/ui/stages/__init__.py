"""The stages page."""
