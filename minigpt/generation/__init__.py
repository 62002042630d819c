"""Generation: from the logits of one position to the next token, and numbers about the text that results.

settings.py   SampleConfig with the allowed range of every setting, presets, the short form for links
filters.py    forbid, temperature, top-k, top-p, softmax in order, each one plottable
drawing.py    the draw: greedy, random with a generator, or with one random number for several columns
stepping.py   a text token by token: prefill, decode with a cache, stop; several columns in one batch
compare.py    columns that grow side by side, the numbers that compare them, and both as files
seeds.py      the same columns over many seeds
cost.py       what the cache saves, measured on the same text
measures.py   repetition, distinctness, surprise, entropy, where texts begin to differ
copies.py     the longest copy from the corpus, with the record it comes from
"""
