"""The model against a plain scalar reading of it, its causality, gradients, and the inputs it refuses."""

from math import erf, exp, pi, sqrt, tanh

import pytest
import torch

from minigpt.model.gpt import MiniGPT
from minigpt.model.layers import linear
from minigpt.model.loss import loss

IDS = torch.tensor([[3, 7, 7, 0, 19, 4, 11, 2], [5, 1, 9, 16, 8, 8, 3, 12]])
VALID = torch.tensor([[True] * 8, [True] * 5 + [False] * 3])


# A second reading of the model: lists and loops, no tensor arithmetic, nothing shared with the library.


def affine(row: list[float], matrix: list[list[float]], bias: list[float] | None) -> list[float]:
    columns = range(len(matrix[0]))
    sums = [sum(row[i] * matrix[i][j] for i in range(len(row))) for j in columns]
    return [sums[j] + (bias[j] if bias else 0.0) for j in columns]


def norm(row: list[float], weights: dict, name: str, epsilon: float) -> list[float]:
    mean = sum(row) / len(row)
    variance = sum((x - mean) ** 2 for x in row) / len(row)
    weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
    return [(x - mean) / sqrt(variance + epsilon) * s + o for x, s, o in zip(row, weight, bias, strict=True)]


ACTIVATIONS = {
    "relu": lambda x: max(x, 0.0),
    "gelu": lambda x: x * (1 + erf(x / sqrt(2))) / 2,
    "gelu_tanh": lambda x: x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))) / 2,
}


def attend(q: list, k: list, v: list, t: int, head_width: int) -> list[float]:
    """The mixture of position t for one head: keys 0 .. t."""
    scores = [sum(a * b for a, b in zip(q[t], k[s], strict=True)) / sqrt(head_width) for s in range(t + 1)]
    powers = [exp(score - max(scores)) for score in scores]
    return [sum(p / sum(powers) * v[s][d] for s, p in enumerate(powers)) for d in range(head_width)]


def scalar_logits(model: MiniGPT, ids: list[int]) -> list[list[float]]:
    """Logits of one record without padding."""
    config = model.config
    weights = {name: tensor.tolist() for name, tensor in model.named_parameters()}
    width, head_width = config.width, config.width // config.heads
    x = [
        [a + b for a, b in zip(weights["token_embedding"][i], weights["position_embedding"][t], strict=True)]
        for t, i in enumerate(ids)
    ]
    for n in range(config.layers):
        at = f"blocks.{n}"
        bias, output_bias = weights.get(f"{at}.attention.qkv_bias"), weights.get(f"{at}.attention.output_bias")
        normed = [norm(row, weights, f"{at}.norm1", config.norm_epsilon) for row in x]
        qkv = [affine(row, weights[f"{at}.attention.qkv"], bias) for row in normed]
        for t in range(len(x)):
            joined = []
            for h in range(config.heads):
                q, k, v = (
                    [row[part * width + h * head_width : part * width + (h + 1) * head_width] for row in qkv]
                    for part in range(3)
                )
                joined += attend(q, k, v, t, head_width)
            attended = affine(joined, weights[f"{at}.attention.output"], output_bias)
            x[t] = [a + b for a, b in zip(x[t], attended, strict=True)]
            hidden = affine(
                norm(x[t], weights, f"{at}.norm2", config.norm_epsilon),
                weights[f"{at}.ffn.w1"],
                weights[f"{at}.ffn.b1"],
            )
            hidden = [ACTIVATIONS[config.activation](u) for u in hidden]
            added = affine(hidden, weights[f"{at}.ffn.w2"], weights[f"{at}.ffn.b2"])
            x[t] = [a + b for a, b in zip(x[t], added, strict=True)]
    columns = [list(column) for column in zip(*weights["token_embedding"], strict=True)]
    head = weights.get("head", columns)
    return [affine(norm(row, weights, "final_norm", config.norm_epsilon), head, weights.get("head_bias")) for row in x]


def test_logits_equal_the_scalar_reading(grid_model: MiniGPT, tolerance: float):
    found = grid_model(IDS)
    for row, ids in enumerate(IDS.tolist()):
        expected = torch.tensor(scalar_logits(grid_model, ids), dtype=torch.float64)
        assert (found[row].double() - expected).abs().max() < tolerance * 10


def test_norm_epsilon_counts(small):
    coarse = small(norm_epsilon=0.5)
    expected = torch.tensor(scalar_logits(coarse, IDS[0].tolist()), dtype=torch.float64)
    assert (coarse(IDS[:1])[0] - expected).abs().max() < 1e-11
    assert (coarse(IDS[:1]) - small()(IDS[:1])).abs().max() > 1e-3


def test_future_token_changes_no_earlier_logits(grid_model: MiniGPT, tolerance: float):
    before = grid_model(IDS)
    for changed in (7, 3):
        ids = IDS.clone()
        ids[:, changed] = 13
        after = grid_model(ids)
        assert (after[:, :changed] - before[:, :changed]).abs().max() <= tolerance
        assert (after[:, changed] - before[:, changed]).abs().amax(-1).min() > 1e-3
        assert (after[:, -1] - before[:, -1]).abs().amax(-1).min() > 1e-4, "a later position must see the change"


def test_padding_content_changes_nothing(grid_model: MiniGPT, tolerance: float):
    other = IDS.masked_fill(~VALID, 17)
    difference = (grid_model(other, VALID) - grid_model(IDS, VALID)).abs()
    assert difference[VALID].max() <= tolerance
    assert difference[~VALID].max() > 1e-3


def test_padding_equals_no_padding(grid_model: MiniGPT, tolerance: float):
    padded = grid_model(IDS, VALID)
    assert (padded[1, :5] - grid_model(IDS[1:, :5])[0]).abs().max() <= tolerance
    assert (padded[0] - grid_model(IDS[:1])[0]).abs().max() <= tolerance


def test_invalid_slots_between_are_not_read(small):
    model, valid = small(layers=2), torch.ones(1, 8, dtype=torch.bool)
    valid[0, 2] = False
    ids = IDS[:1].clone()
    before = model(ids, valid)
    ids[0, 2] = 15
    after = model(ids, valid)
    assert (after - before)[valid].abs().max() <= 1e-12
    assert (before[0, 3:] - model(IDS[:1])[0, 3:]).abs().max() > 1e-3


def test_another_sample_changes_nothing(grid_model: MiniGPT, tolerance: float):
    before = grid_model(IDS, VALID)
    after = grid_model(torch.stack([IDS[0], IDS[1].flip(0)]), VALID)
    assert (after[0] - before[0]).abs().max() <= tolerance
    assert (after[1] - before[1]).abs().max() > 1e-3


@pytest.mark.parametrize("length", [1, 10])
def test_shortest_and_longest_input(grid_model: MiniGPT, length: int):
    ids = torch.arange(length)[None]
    logits = grid_model(ids)
    assert logits.shape == (1, length, 20)
    assert logits.dtype == getattr(torch, grid_model.config.dtype)
    assert logits.isfinite().all()


def test_gradients_reach_every_parameter(grid_model: MiniGPT):
    targets = IDS.roll(-1, dims=1).masked_fill(~VALID, -100)
    loss(grid_model(IDS, VALID), targets).backward()
    for name, parameter in grid_model.named_parameters():
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().max() > 1e-6, name


@pytest.mark.parametrize("valid", [None, VALID, VALID.flip(1), VALID & False], ids=["whole", "after", "before", "none"])
def test_training_mode_is_the_same_function(config_changes: dict, tolerance: float, small, valid: torch.Tensor | None):
    """Logits and gradients without dropout, for records whole, padded after and before the text, and all padding."""
    model = small(**config_changes | {"dropout": 0.0})
    logits, gradients = [], []
    for training in (False, True):
        model.train(training).zero_grad()
        logits.append(model(IDS, valid))
        logits[-1].sin().sum().backward()
        gradients.append([parameter.grad.clone() for parameter in model.parameters()])
    assert (logits[0] - logits[1]).abs().max() <= tolerance
    assert all((a - b).abs().max() <= tolerance * 100 for a, b in zip(*gradients, strict=True))
    assert all(gradient.isfinite().all() for gradient in gradients[1])


def test_training_does_not_look_ahead(small):
    for dropout in (0.0, 0.3):
        model, states = small(layers=2, dropout=dropout).train(), []
        for ids in (IDS, torch.cat([IDS[:, :5], IDS[:, 5:].flip(1)], dim=1)):
            states.append(model(ids, VALID, generator=torch.Generator().manual_seed(3)))
        assert (states[0] - states[1])[:, :5].abs().max() <= 1e-12
        assert (states[0] - states[1])[0, 5:].abs().max() > 1e-3


def test_unread_rows_get_no_gradient(small):
    model = small()
    loss(model(IDS, VALID), IDS.roll(-1, dims=1).masked_fill(~VALID, -100)).backward()
    read = set(IDS[VALID].tolist())
    for i in range(20):
        assert (model.token_embedding.grad[i].abs().max() > 0) == (i in read)
    assert (model.position_embedding.grad[8:] == 0).all()
    assert (model.position_embedding.grad[:8].abs().amax(-1) > 0).all()


def test_forward_changes_nothing_on_the_model(small):
    model = small(layers=2)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    attributes = {id(module): set(vars(module)) for module in model.modules()}
    first, second = model(IDS, VALID), model(IDS, VALID)
    assert torch.equal(first, second)
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert attributes == {id(module): set(vars(module)) for module in model.modules()}


def test_equal_configs_draw_equal_weights(small):
    config = small(layers=3, attention_bias=True).config
    torch.rand(3)  # not where a model of this very config would leave the global generator
    state = torch.get_rng_state()
    one, other = MiniGPT(config), MiniGPT(config)
    assert torch.equal(torch.get_rng_state(), state), "the global generator must stay where it was"
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), other.parameters(), strict=True))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_initialisation_of_several_blocks(small, dtype: str):
    config = small(layers=2, dtype=dtype, init_seed=3, init_std=0.5, attention_bias=True).config
    model, generator = MiniGPT(config), torch.Generator().manual_seed(3)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, dtype=getattr(torch, dtype), generator=generator) * 0.5

    assert torch.equal(model.token_embedding, draw(20, 8))
    assert torch.equal(model.position_embedding, draw(10, 8))
    for block in model.blocks:
        assert torch.equal(block.attention.qkv, torch.cat([draw(8, 8), draw(8, 8), draw(8, 8)], dim=1))
        assert torch.equal(block.attention.output, draw(8, 8))
        assert torch.equal(block.ffn.w1, draw(8, 12))
        assert torch.equal(block.ffn.w2, draw(12, 8))
        assert (block.attention.qkv_bias == 0).all() and (block.norm2.weight == 1).all()
    assert torch.equal(model.head, draw(8, 20))


def test_tied_head_is_the_token_table(small):
    model = small(tied_head=True)
    assert model.head is None
    assert torch.equal(model.head_matrix, model.token_embedding.T)
    assert "head" not in model.state_dict()


def test_linear_by_hand():
    matrix = torch.tensor([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]])  # (inputs, outputs)
    x = torch.tensor([[1.0, 2.0]])
    assert linear(x, matrix, None).tolist() == [[21.0, 42.0, 63.0]]
    assert linear(x, matrix, torch.tensor([0.5, 0.0, -0.5])).tolist() == [[21.5, 42.0, 62.5]]


@pytest.mark.parametrize(
    ("ids", "valid", "sentence"),
    [
        (torch.zeros(1, 0, dtype=torch.long), None, r"at least one of each, got \(1, 0\)"),
        (torch.zeros(0, 4, dtype=torch.long), None, r"at least one of each, got \(0, 4\)"),
        (torch.zeros(4, dtype=torch.long), None, r"ids must be \(records, positions\).*got \(4,\)"),
        (torch.zeros(1, 11, dtype=torch.long), None, "11 positions do not fit: 10 of the context are free"),
        (torch.tensor([[0, 20]]), None, r"ids must be in 0\.\.19, got 20"),
        (torch.tensor([[3, -1]]), None, r"ids must be in 0\.\.19, got -1"),
        (torch.zeros(1, 4, dtype=torch.long), torch.ones(1, 3).bool(), r"shape of ids \(1, 4\), got \(1, 3\)"),
        (torch.zeros(2, 4, dtype=torch.long), torch.ones(1, 4).bool(), r"shape of ids \(2, 4\), got \(1, 4\)"),
    ],
)
def test_refused_inputs(small, ids: torch.Tensor, valid: torch.Tensor | None, sentence: str):
    with pytest.raises(ValueError, match=sentence):
        small()(ids, valid)
    with pytest.raises(ValueError, match=sentence):
        small().trace(ids, valid)
