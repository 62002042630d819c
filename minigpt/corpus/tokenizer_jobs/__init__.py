"""Learning a tokenizer in a separate process."""
