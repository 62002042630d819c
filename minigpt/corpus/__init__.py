"""Records, their splits, and the batches made of them."""
