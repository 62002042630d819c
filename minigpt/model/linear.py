"""One affine map for every projection: rows are inputs, columns are outputs."""

import torch


def linear(x: torch.Tensor, matrix: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
    """x (..., inputs) times matrix (inputs, outputs), plus bias (outputs,) if there is one."""
    return torch.nn.functional.linear(x, matrix.T, bias)
