"""Sizes and arithmetic of a Hugging Face GPT-2 folder (its config.json) as a ModelConfig, and back.

What our model does not compute is refused by name, so that equal weights give equal logits. A missing key
has the value that `transformers.GPT2Config` gives it; the sizes must be there.
"""

import json
from collections.abc import Sequence
from dataclasses import fields
from functools import reduce
from pathlib import Path
from typing import Any

from minigpt.config import DTYPES, ModelConfig
from minigpt.sentences import Refusal, Sentence, say
from minigpt.storage.json_objects import read_object
from minigpt.validation import check_choice

CONFIG_FILE = "config.json"
_SIZES = {
    "vocab_size": "vocab_size",
    "context_length": "n_positions",
    "width": "n_embd",
    "heads": "n_head",
    "layers": "n_layer",
}
_ACTIVATIONS = {"gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "gelu": "gelu", "relu": "relu"}
_DROPOUTS = ("attn_pdrop", "embd_pdrop", "resid_pdrop")
_HELD = {  # fields of a ModelConfig for which GPT-2 has a place
    *_SIZES,
    *("ffn_width", "activation", "norm_epsilon", "attention_bias", "head_bias", "tied_head", "dropout"),
    *("dtype", "init_seed", "init_std"),
}
# What our model always does: the value each switch must have, and what another would mean.
_FIXED = {
    "scale_attn_weights": (True, say("scores are always divided by the root of the head width here")),
    "scale_attn_by_inverse_layer_idx": (False, say("scores are never divided by the number of the block here")),
    "reorder_and_upcast_attn": (False, say("attention is computed in the dtype and order of the model here")),
    "add_cross_attention": (False, say("there is no second text to attend to here")),
}


def read_config(folder: str | Path, dtype: str = "float32") -> ModelConfig:
    """The config of the GPT-2 model in a folder, for weights in `dtype`.

    Raises ValueError that names the file and the field: not a GPT-2, a size that is missing or impossible, an
    activation or switch that this model does not have, or three different dropouts.
    """
    check_choice("dtype", dtype, DTYPES)
    path = Path(folder) / CONFIG_FILE
    if not path.is_file():
        raise Refusal(
            "{folder} is not a folder of a GPT-2 model: it has no {config_file}", folder=folder, config_file=CONFIG_FILE
        )
    content = read_object(path)
    try:
        return _config(content, dtype)
    except ValueError as error:
        raise Refusal("{path} cannot be used: {error}", path=path, error=error) from error


def config_object(config: ModelConfig) -> dict[str, Any]:
    """What `transformers.GPT2Config` needs for the same function, without the tokenizer's ids.

    Raises ValueError with every reason why GPT-2's architecture cannot hold the model, see `obstacles`.
    """
    found = obstacles(config)
    if found:
        raise Refusal("GPT-2's architecture cannot hold this model: {reasons}", reasons=joined(found))
    published = {ours: theirs for theirs, ours in reversed(_ACTIVATIONS.items())}
    return {
        "model_type": "gpt2",
        "architectures": ["GPT2LMHeadModel"],
        **{theirs: getattr(config, ours) for ours, theirs in _SIZES.items()},
        "n_inner": config.ffn_width,
        "activation_function": published[config.activation],
        "layer_norm_epsilon": config.norm_epsilon,
        "tie_word_embeddings": config.tied_head,
        "initializer_range": config.init_std,
        **dict.fromkeys(_DROPOUTS, config.dropout),
        **{name: value for name, (value, _) in _FIXED.items()},
        "dtype": config.dtype,
        "torch_dtype": config.dtype,  # the name of the same before transformers 4.56
    }


def obstacles(config: ModelConfig) -> list[Sentence]:
    """Why GPT-2's architecture cannot hold a model, one sentence a reason; nothing when it can."""
    found = [say("its LM head has a bias, GPT-2's has none")] if config.head_bias else []
    for field in fields(config):
        value = getattr(config, field.name)
        if field.name not in _HELD and value != field.default:
            found.append(say("{name} is {value}, GPT-2 has {other}", name=field.name, value=value, other=field.default))
    return found


def joined(sentences: Sequence[Sentence]) -> Sentence:
    """One or more sentences as one, with semicolons between them."""
    return reduce(lambda first, then: say("{first}; {then}", first=first, then=then), sentences)


def _config(content: dict[str, Any], dtype: str) -> ModelConfig:
    if content.get("model_type") != "gpt2":
        raise Refusal("model_type must be 'gpt2', got {model_type!r:.40}", model_type=content.get("model_type"))
    missing = [name for name in _SIZES.values() if content.get(name) is None]
    if missing:
        raise Refusal("it lacks {names}", names=", ".join(missing))
    for name, (value, meaning) in _FIXED.items():
        if content.get(name, value) is not value:
            raise Refusal(
                "{name} must be {allowed}, got {value!r:.40}: {meaning}",
                name=name,
                allowed=json.dumps(value),
                value=content[name],
                meaning=meaning,
            )
    activation = content.get("activation_function", "gelu_new")
    if not isinstance(activation, str) or activation not in _ACTIVATIONS:
        raise Refusal(
            "activation_function must be one of {activations}, got {activation!r:.40}",
            activations=", ".join(_ACTIVATIONS),
            activation=activation,
        )
    width, inner = content["n_embd"], content.get("n_inner")
    if inner is None:
        inner = 4 * width if isinstance(width, int) else width
    return ModelConfig(
        **{ours: content[theirs] for ours, theirs in _SIZES.items()},
        ffn_width=inner,
        activation=_ACTIVATIONS[activation],
        norm_epsilon=content.get("layer_norm_epsilon", 1e-5),
        attention_bias=True,
        head_bias=False,
        tied_head=content.get("tie_word_embeddings", True),
        dropout=_dropout(content),
        dtype=dtype,
        init_std=content.get("initializer_range", 0.02),
    )


def _dropout(content: dict[str, Any]) -> float:
    found = {name: content.get(name, 0.1) for name in _DROPOUTS}
    if len({repr(value) for value in found.values()}) > 1:
        listed = ", ".join(f"{name} {value!r:.20}" for name, value in found.items())
        raise Refusal(
            "this model has one dropout, the file has {listed}; make them equal, which changes nothing but training",
            listed=listed,
        )
    return found["attn_pdrop"]
