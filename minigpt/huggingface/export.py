"""A model of ours as a Hugging Face GPT-2 folder, with its tokenizer: for transformers, or to be imported elsewhere."""

import io
import shutil
import tempfile
import uuid
import zipfile
from pathlib import Path

import torch

from minigpt.config import ModelConfig
from minigpt.huggingface.config import obstacles
from minigpt.huggingface.tokenizer_gpt2 import write_gpt2_tokenizer
from minigpt.huggingface.tokenizer_json import export_tokenizer
from minigpt.huggingface.weights import save_gpt2
from minigpt.limits import limit
from minigpt.model.gpt import MiniGPT
from minigpt.model.parameters import parameter_count
from minigpt.sentences import Refusal, say
from minigpt.storage.atomic import write_atomic
from minigpt.tokenizers.base import Tokenizer
from minigpt.tokenizers.gpt2 import GPT2Tokenizer

OWN_TOKENIZER = "minigpt-tokenizer.json"  # in a folder whose tokenizer Hugging Face's format cannot hold
__all__ = ["OWN_TOKENIZER", "check_download", "export_folder", "export_zip", "obstacles"]


def export_folder(folder: str | Path, model: MiniGPT, tokenizer: Tokenizer) -> str:
    """Write a new folder that `transformers` reads as GPT-2: config.json, model.safetensors and the tokenizer's files.

    The folder is written as a whole or not at all. A tokenizer that tokenizer.json cannot hold is written in our
    format, and the reason is
    returned, else "". Raises ValueError with the reasons for a model that
    GPT-2's architecture cannot hold (see `obstacles`), for a folder that exists and is not empty, and in
    place of an OSError.
    """
    folder = Path(folder).expanduser().absolute()
    unfinished = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}")
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise Refusal("{folder} exists and is not empty; choose another folder", folder=folder)
        unfinished.mkdir(parents=True)
        reason = _write(unfinished, model, tokenizer)
        if folder.exists():
            folder.rmdir()
        unfinished.rename(folder)
        return reason
    except OSError as error:
        raise Refusal("{folder} cannot be written: {strerror}", folder=folder, strerror=error.strerror) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def export_zip(name: str, model: MiniGPT, tokenizer: Tokenizer) -> bytes:
    """The same folder, called `name`, as a zip file in memory.

    Raises ValueError as `export_folder` does, and above the limit of bytes, before anything is made.
    """
    check_download(model.config)
    buffer = io.BytesIO()
    with tempfile.TemporaryDirectory() as place, zipfile.ZipFile(buffer, "w") as archive:
        _write(Path(place), model, tokenizer)
        for path in sorted(Path(place).iterdir()):
            archive.write(path, f"{name}/{path.name}")
    return buffer.getvalue()


def check_download(config: ModelConfig) -> None:
    """Raises ValueError for a model whose weights exceed the limit of bytes for a zip file in memory."""
    size, most = parameter_count(config) * getattr(torch, config.dtype).itemsize, limit("MINIGPT_EXPORT_BYTES")
    if size > most:
        raise Refusal(
            "the weights of this model have {size:,} bytes, a download may have at most {most:,}; "
            "python -m minigpt export writes them into a folder",
            size=size,
            most=most,
        )


def _write(folder: Path, model: MiniGPT, tokenizer: Tokenizer) -> str:
    """Write all files of the folder; returns why the tokenizer is only in our format, or "" when it is not."""
    ids = {"bos_token_id": tokenizer.bos, "eos_token_id": tokenizer.eos, "pad_token_id": tokenizer.pad}
    save_gpt2(folder, model, ids)
    if isinstance(tokenizer, GPT2Tokenizer):
        write_gpt2_tokenizer(folder, tokenizer)
        return ""
    try:
        export_tokenizer(tokenizer, folder / "tokenizer.json")
    except ValueError as error:
        tokenizer.save(folder / OWN_TOKENIZER)
        return say("the tokenizer is only in {name}: {error}", name=OWN_TOKENIZER, error=error)
    # By its model_type, transformers would split texts into words as GPT-2 does.
    write_atomic(folder / "tokenizer_config.json", b'{"tokenizer_class": "PreTrainedTokenizerFast"}\n')
    return ""
