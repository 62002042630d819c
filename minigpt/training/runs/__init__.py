"""Run folders: written, read, resumed, listed, exported."""
