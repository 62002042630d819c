"""How much one request may ask for. Each limit can be changed by an environment variable of the same name.

A limit is checked before the work starts, by the code that would do the work.
"""

import os

from minigpt.sentences import Refusal
from minigpt.validation import check_int


def limit(name: str) -> int:
    """The limit called `name`, from the environment or the default; ValueError for an unusable value."""
    text = os.environ.get(name)
    if text is None:
        return _DEFAULTS[name]
    if not text.strip().isdecimal():
        raise Refusal("the environment variable {name} must be a whole number, got {text!r}", name=name, text=text)
    check_int(name, int(text), least=1)
    return int(text)


def check_length(text: str) -> None:
    """Raises ValueError before any work for a text of too many characters."""
    most = limit("MINIGPT_RECORD_CHARACTERS")
    if len(text) > most:
        raise Refusal("the text has {count:,} characters, at most {most:,} are allowed", count=len(text), most=most)


_DEFAULTS = {
    "MINIGPT_UPLOAD_BYTES": 50_000_000,  # of one file that is read for a corpus
    "MINIGPT_CORPUS_RECORDS": 1_000_000,  # of one such file
    "MINIGPT_RECORD_CHARACTERS": 200_000,  # of one text that is encoded on request
    "MINIGPT_MODEL_PARAMETERS": 500_000_000,  # of one model in memory
    "MINIGPT_MODEL_LAYERS": 256,  # of one model: each is a dozen objects, however small its numbers
    "MINIGPT_MODELS_BYTES": 1_500_000_000,  # of one model, and of all that the pages keep: three of GPT-2 Small's size
    "MINIGPT_RECORD_BYTES": 3_500_000_000,  # of one record's stages while they are computed: GPT-2 Small's full context
    "MINIGPT_TRACES_BYTES": 500_000_000,  # of all records with their stages that the pages keep; the newest always
    "MINIGPT_SAMPLE_TOKENS": 1000,  # of one column of samples on a page
    "MINIGPT_KEPT_LOGITS": 10_000_000,  # of one comparison of samples: tokens of all columns x vocabulary
    "MINIGPT_CACHE_BYTES": 500_000_000,  # of the keys and values of one comparison
    "MINIGPT_EVALUATED_CHARACTERS": 2_000_000,  # of a corpus that each evaluation of a run scores as a whole
    "MINIGPT_RUNS_AT_ONCE": 8,  # that one training server steps in turn; more wait
    "MINIGPT_RUNS_A_BROWSER": 4,  # that one browser may run at a time
    "MINIGPT_RUN_STEPS": 100_000,  # of one run made on a page: so that an abandoned run ends
    "MINIGPT_SAMPLES": 24,  # saved steps of a run that one table of samples shows
    "MINIGPT_CORPORA_A_BROWSER": 12,  # that one browser may keep
    "MINIGPT_TOKENIZERS_AT_ONCE": 2,  # that one server learns
    "MINIGPT_MERGES": 8192,  # of one tokenizer learned on a page
    "MINIGPT_EXPORT_BYTES": 200_000_000,  # of the weights in one download of a model, which is made in memory
    "MINIGPT_RUNS_PAUSED": 16,  # that it keeps in memory; the longest paused is stopped, to be resumed
}
