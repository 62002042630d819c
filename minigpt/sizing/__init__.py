"""Sizes from a config alone: parameters, memory, and what other shapes would cost."""
