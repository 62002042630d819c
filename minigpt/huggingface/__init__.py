"""Hugging Face GPT-2 folders and tokenizer files, in and out."""
