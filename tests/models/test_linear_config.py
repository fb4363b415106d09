"""The linear design looks for codes with as many steps as the default design does."""

from graphflip.models.networks.pegvae import PEGVAE, linear_config
from graphflip.schema import Schema


def test_the_linear_design_takes_the_usual_number_of_steps():
    assert linear_config(Schema(max_nodes=9)).refine_steps == PEGVAE.default.refine_steps == 20
    assert linear_config(Schema(max_nodes=9), refine_steps=3).refine_steps == 3
