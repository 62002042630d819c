"""One new position a text, after all that a cache holds: the forward of MiniGPT with nothing to keep.

Beside one position the bookkeeping of the general forward costs more than its arithmetic: the mask that
hides nothing, the named stages that are not shown, the search for every parameter. Here they are left out;
the formulas are those of `MiniGPT.forward`, and the tests hold the two equal.
"""

import torch
from torch.nn import functional

from minigpt.model.cache import KVCache
from minigpt.model.gpt import Block, MiniGPT
from minigpt.model.layers import ACTIVATION
from minigpt.sentences import Refusal


class Decoder:
    """A model's parameters in the order of use; later updates of the model are seen, as they are the same tensors.

    >>> cache = KVCache(model.config); model.next_logits(torch.tensor([[256, 84]]), cache)
    >>> Decoder(model)(torch.tensor([104]), cache).shape
    torch.Size([1, 291])
    """

    def __init__(self, model: MiniGPT):
        self.config = model.config
        self.tables = (model.token_embedding, model.position_embedding)
        self.blocks = [_block_parameters(block) for block in model.blocks]
        self.final_norm = model.final_norm.function()
        self.head = (model.head_matrix, model.head_bias)

    @torch.inference_mode()
    def __call__(self, ids: torch.Tensor, cache: KVCache) -> torch.Tensor:
        """ids (B,) long, one a cached text -> logits (B, V) of what follows; the cache grows by one position.

        The ids are trusted to be in the vocabulary: they were drawn from it. Raises ValueError when the
        cache is full or holds another number of texts.
        """
        if cache.length >= cache.capacity or cache.keys.shape[1] != len(ids):
            raise Refusal(
                "the cache holds {length} of {capacity} positions of {held} texts, got one more of {given}",
                length=cache.length,
                capacity=cache.capacity,
                held=cache.keys.shape[1],
                given=len(ids),
            )
        tokens, position_vectors = self.tables
        x = tokens.index_select(0, ids) + position_vectors[cache.length]  # (B, C)
        keys, values = cache.room(1)  # (L, B, H, keys, D)
        for parameters, k, v in zip(self.blocks, keys, values, strict=True):
            x = self._block(x, parameters, k, v)
        cache.advance(1)
        return _affine(self.final_norm(x), *self.head)

    def _block(self, x: torch.Tensor, parameters: tuple, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        """x (B, C) -> (B, C); writes the position's key and value into the last place of (B, H, keys, D)."""
        norm1, qkv, qkv_bias, output, output_bias, norm2, w1, b1, w2, b2 = parameters
        config = self.config
        joined = _affine(norm1(x), qkv, qkv_bias)  # (B, 3C)
        q, k, v = joined.view(len(x), 3, config.heads, 1, config.head_width).unbind(1)  # (B, H, 1, D)
        keys[:, :, -1:], values[:, :, -1:] = k, v
        mixtures = functional.scaled_dot_product_attention(q, keys, values)  # (B, H, 1, D)
        x = self._joined(x, _affine(mixtures.reshape(x.shape), output, output_bias))
        hidden = ACTIVATION[config.activation](_affine(norm2(x), w1, b1))  # (B, F)
        return self._joined(x, _affine(hidden, w2, b2))

    def _joined(self, x: torch.Tensor, branch: torch.Tensor) -> torch.Tensor:
        return branch.add_(x) if self.config.residual else branch


def _block_parameters(block: Block) -> tuple:
    attention, ffn = block.attention, block.ffn
    first = (block.norm1.function(), attention.qkv, attention.qkv_bias)
    second = (attention.output, attention.output_bias, block.norm2.function())
    return (*first, *second, ffn.w1, ffn.b1, ffn.w2, ffn.b2)


def _affine(x: torch.Tensor, matrix: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """`linear` for rows (B, inputs), without its way through general shapes."""
    return torch.mm(x, matrix) if bias is None else torch.addmm(bias, x, matrix)
