"""The training form and the Models page follow the fields of the configs."""

from dataclasses import fields

from minigpt.config import ModelConfig, TokenizerConfig, TrainConfig
from minigpt.ui.models import config as models_config
from minigpt.ui.shared.training_fields import FIRST, MORE, SHAPE, part_of


def test_the_form_shows_each_field_once_in_the_order_of_the_configs():
    assert FIRST == ("steps", "learning_rate")
    assert SHAPE == ("kind", "merges", "mode", "context_length", "width", "heads", "layers", "init_seed")
    assert MORE[0] == "batch_size" and MORE[-2:] == ("norm", "dropout") and len(MORE) == 17
    assert len({*FIRST, *SHAPE, *MORE}) == len(FIRST) + len(SHAPE) + len(MORE)


def test_a_field_belongs_to_its_config():
    for part, config in (("training", TrainConfig), ("model", ModelConfig), ("tokenizer", TokenizerConfig)):
        assert {part_of(field.name) for field in fields(config)} == {part}


def test_the_models_page_shows_every_field_of_a_model():
    shown = (*models_config.SIZES, *models_config.SWITCHES, *models_config.CHOICES, *models_config.FINE)
    assert sorted(shown) == sorted(field.name for field in fields(ModelConfig))
