"""A record looked at: every stage, recomputed and explained, and what the model makes of it."""
