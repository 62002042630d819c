"""Adam and AdamW in the few lines that they are.

Source: D. Kingma, J. Ba (2015), Adam: A Method for Stochastic Optimization, algorithm 1; I. Loshchilov,
F. Hutter (2019), Decoupled Weight Decay Regularization, algorithm 2.
"""

from math import sqrt

import torch
from torch import nn

from minigpt.config import TrainConfig


class Adam:
    """Moments of every parameter, and the update. AdamW's decay touches matrices (2-D) only, tables included.

    `first` and `second` have the shapes and dtypes of the parameters and belong to a resumable state.
    """

    def __init__(self, model: nn.Module, config: TrainConfig):
        self.config = config
        self.parameters = dict(model.named_parameters())  # a tied matrix appears once
        self.first = {name: torch.zeros_like(tensor) for name, tensor in self.parameters.items()}
        self.second = {name: torch.zeros_like(tensor) for name, tensor in self.parameters.items()}
        rows = [(tensor, self.first[name], self.second[name]) for name, tensor in self.parameters.items()]
        self._matrices, self._rest = ([row for row in rows if (row[0].ndim == 2) is flat] for flat in (True, False))

    @torch.no_grad()
    def update(self, step: int, learning_rate: float) -> None:
        """Apply the gradients as update number `step` (from 1)."""
        if all(tensor.dtype == torch.float32 for tensor in self.parameters.values()):
            return self._in_one_kernel(step, learning_rate)
        config, parameters = self.config, list(self.parameters.values())
        gradients = [tensor.grad for tensor in parameters]
        first, second = list(self.first.values()), list(self.second.values())
        if config.weight_decay:
            matrices = [tensor for tensor in parameters if tensor.ndim == 2]
            torch._foreach_mul_(matrices, 1 - learning_rate * config.weight_decay)
        torch._foreach_lerp_(first, gradients, 1 - config.beta1)
        torch._foreach_mul_(second, config.beta2)
        torch._foreach_addcmul_(second, gradients, gradients, 1 - config.beta2)
        scale = torch._foreach_sqrt(second)
        torch._foreach_div_(scale, sqrt(1 - config.beta2**step))
        torch._foreach_add_(scale, config.epsilon)
        torch._foreach_addcdiv_(parameters, first, scale, -learning_rate / (1 - config.beta1**step))
        return None

    def _in_one_kernel(self, step: int, learning_rate: float) -> None:
        """The same lines in one pass over each tensor; in float64 their last bits would be others."""
        config = self.config
        options = {"lr": learning_rate, "beta1": config.beta1, "beta2": config.beta2, "eps": config.epsilon}
        for decay, chosen in ((config.weight_decay, self._matrices), (0.0, self._rest)):
            columns = [list(column) for column in zip(*chosen, strict=True)]
            gradients = [tensor.grad for tensor in columns[0]]
            parameters, first, second = columns
            steps = [torch.tensor(float(step))] * len(parameters)
            torch._fused_adamw_(
                parameters, gradients, first, second, [], steps, weight_decay=decay, amsgrad=False, maximize=False,
                **options,
            )  # fmt: skip
