"""Learning a tokenizer in a process of its own."""
