"""Files: whole or absent, owned, locked, bounded; everything that touches the disk without knowing what is in it."""
