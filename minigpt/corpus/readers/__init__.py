"""From the bytes of a file to records, with every fault counted and placed."""
