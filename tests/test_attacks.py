"""Attacks of tools/attacks: none does harm, and a guard that is taken away is missed."""

from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[1] / "tools"

with pytest.MonkeyPatch.context() as patch:
    patch.syspath_prepend(str(TOOLS))
    import attacks  # pyright: ignore[reportMissingImports]
    import small_kit  # pyright: ignore[reportMissingImports]


@pytest.fixture(scope="module")
def kit(tmp_path_factory):
    return small_kit.make_kit(tmp_path_factory.mktemp("small") / "kit", common=0.9)


@pytest.fixture(scope="module")
def commands():
    with attacks.Commands() as commands:
        yield commands


@pytest.mark.parametrize("name", attacks.ATTACKS)
def test_an_attack_does_no_harm(name, kit, commands, tmp_path):
    attacks.ATTACKS[name](attacks.Place(tmp_path, kit, commands))
