"""A small GPT to look inside: tokenizer, model, trace, training and generation.

Dimension letters, used in every shape comment of the package:

    B  records in a batch          T  positions (slots) of a record
    C  width of the residual       H  attention heads
    D  width of one head (C / H)   F  width of the hidden FFN layer
    V  vocabulary size             L  blocks

Nothing is imported here, so that `python -m minigpt --help` and the first paint of the app do not
wait for torch. Imports run one way; docs/architecture.md draws the order of the folders.
"""
