"""The training loop, its optimizer, and the run folders it writes."""
