"""The command line: what `python -m minigpt` accepts and prints."""
