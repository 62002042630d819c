"""The logits page."""
