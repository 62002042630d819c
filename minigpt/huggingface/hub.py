"""GPT-2 from the Hugging Face Hub, when `huggingface_hub` is installed and there is a network. Never at start."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from minigpt.sentences import Refusal, Sentence, say

GPT2_REPO = "openai-community/gpt2"
WANTED = ("config.json", "model.safetensors", "vocab.json", "merges.txt", "tokenizer.json", "tokenizer_config.json")


def can_download() -> bool:
    """Whether `huggingface_hub` is installed; it is not imported for this."""
    return find_spec("huggingface_hub") is not None


def download_gpt2(repo: str = GPT2_REPO) -> Path:
    """The folder of a GPT-2 model in the Hub's cache on this computer, downloaded (550 MB) if it is not there.

    Only configuration, safetensors weights and tokenizer files are taken. Raises ValueError that says how to
    get the folder by hand when the package is missing, the network, the repository or the disk fails.
    """
    if not can_download():
        raise Refusal("the package huggingface_hub is not installed; {by_hand}", by_hand=_by_hand(repo))
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError

    try:
        return Path(snapshot_download(repo, allow_patterns=list(WANTED)))
    except HFValidationError as error:
        raise Refusal(
            "{repo!r:.80} is not the name of a repository, such as {gpt2_repo}", repo=repo, gpt2_repo=GPT2_REPO
        ) from error
    except _network_errors() as error:
        raise Refusal(
            "{repo} could not be downloaded ({kind}); {by_hand}",
            repo=repo,
            kind=type(error).__name__,
            by_hand=_by_hand(repo),
        ) from error


def _by_hand(repo: str) -> Sentence:
    return say(
        "on a computer with a network, download config.json, model.safetensors, vocab.json and merges.txt from "
        "https://huggingface.co/{repo}/tree/main, put them into one folder, and open that folder here",
        repo=repo,
    )


def _network_errors() -> tuple[type[Exception], ...]:
    """What the Hub's client raises."""
    from huggingface_hub import errors

    found: list[type[Exception]] = [OSError]
    found += [getattr(errors, name) for name in ("EntryNotFoundError", "XetDownloadError") if hasattr(errors, name)]
    if find_spec("httpx") is not None:
        found.append(import_module("httpx").HTTPError)
    return tuple(found)
