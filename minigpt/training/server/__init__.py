"""The trainer process: who steps, who waits, and how the pages ask it."""
