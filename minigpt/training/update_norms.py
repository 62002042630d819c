"""What one update did: which tensors moved, and how far. For slow motion, one step at a time."""

from dataclasses import dataclass

import torch

from minigpt.training.loop import Training


@dataclass(frozen=True)
class Move:
    """How far one tensor moved in an update: Euclidean length of the change, and as a share of the tensor's own."""

    name: str
    component: str
    moved: float
    share: float  # moved / length before; 0 where the tensor was all 0


def snapshot(training: Training) -> dict[str, torch.Tensor]:
    """Copies of all parameters, to be compared after an update."""
    return {name: tensor.detach().clone() for name, tensor in training.optimizer.parameters.items()}


@torch.no_grad()
def moves(training: Training, before: dict[str, torch.Tensor]) -> list[Move]:
    """Every tensor's move since `before`, the farthest first; ties keep the order of the model."""
    found = []
    for name, tensor in training.optimizer.parameters.items():
        moved, length = (tensor - before[name]).norm().item(), before[name].norm().item()
        found.append(Move(name, training.components[name], moved, moved / length if length else 0.0))
    return sorted(found, key=lambda move: -move.moved)
