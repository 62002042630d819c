"""What the model says at chosen steps: the same prompts, settings and seed each time."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from minigpt.config import TrainConfig
from minigpt.corpus.corpus import Corpus
from minigpt.generation.settings import SampleConfig
from minigpt.generation.stepping import generate, prompt_ids
from minigpt.model.gpt import MiniGPT
from minigpt.sentences import Refusal
from minigpt.tokenizers.base import Tokenizer

LONGEST_WORD = 24  # characters; what is longer is text without spaces


@dataclass(frozen=True)
class Sample:
    """One continuation after `step` updates. `stop` is eos, length or context_limit."""

    step: int
    prompt: str
    text: str  # of the drawn tokens, without the prompt
    ids: tuple[int, ...]
    stop: str


def prompts_of(config: TrainConfig) -> list[str]:
    """The prompts, one a line; no text at all is one empty prompt."""
    return config.sample_prompts.split("\n")


def common_start(corpus: Corpus) -> str:
    """A prompt that the corpus knows: the commonest beginning of its first records, the earliest on ties.

    A beginning is the first words of a text's first line, at most three and at most 12 characters, but
    never a part of a word; the space after them, which many a tokenizer merges with the last word, is
    there if the text has it. Where there are no spaces between words, as in Chinese, it is the first two
    characters. Example: of "the key is red", "a box" and "the key is blue" it is "the key is ".
    """
    lines = [record.text[:200].split("\n")[0] for record in corpus.train[:1000]]
    return Counter(map(_beginning, lines)).most_common(1)[0][0]


def _beginning(line: str) -> str:
    words = re.findall(r"\s*\S+ ?", line)[:3]
    if (" " not in line and not line.isascii()) or (words and len(words[0].strip()) > LONGEST_WORD):
        return line[:2]
    while len(words) > 1 and len("".join(words).rstrip()) > 12:
        words.pop()
    return "".join(words)


def check_prompts(config: TrainConfig, tokenizer: Tokenizer, context_length: int) -> None:
    """Raises ValueError, before a run is made, for a prompt that does not fit the context."""
    for prompt in prompts_of(config) if config.sample_every else []:
        needed = len(prompt_ids(tokenizer, prompt))
        if needed > context_length:
            raise Refusal(
                "the sample prompt {prompt!r} needs {needed} positions, the context length is {context_length}",
                prompt=prompt[:40],
                needed=needed,
                context_length=context_length,
            )


def draw_samples(model: MiniGPT, tokenizer: Tokenizer, config: TrainConfig, step: int) -> Iterator[Sample | None]:
    """A sample for each prompt, without dropout, and None after each token, so that it can be interrupted.

    No generator of the training is touched; the model's mode is restored.
    """
    settings = SampleConfig(
        temperature=config.sample_temperature, seed=config.sample_seed, max_new_tokens=config.sample_tokens
    )
    training = model.training
    for prompt in prompts_of(config):
        model.eval()
        ids: list[int] = []
        stop: str | None = None
        for token in generate(model, tokenizer, prompt_ids(tokenizer, prompt), settings):
            ids.append(token.id)
            stop = token.stop
            yield None
        model.train(training)
        assert stop is not None  # of the last token
        yield Sample(step, prompt, tokenizer.decode(ids), tuple(ids), stop)
