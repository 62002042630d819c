"""Generation: from the logits of one position to the next token, and numbers about the text that results.

settings.py   SampleConfig, the allowed range of every setting, the presets
sampling.py   the filters in order (forbid, temperature, top-k, top-p, softmax), each one plottable
drawing.py    the draw: greedy, random with an own generator, or with the same dice for several columns
stepping.py   a text token by token: prefill, decode with a cache, stop; several columns in one batch
comparing.py  columns that grow side by side, and the numbers that compare them
cost.py       what the cache saves, measured on the same text
measures.py   repetition, distinctness, surprise, entropy, where texts part
report.py     what the command line prints
copies.py     the longest copy from the corpus, with the record it comes from
"""
