"""Settings refuse what would be unsafe or make no sense."""

import pytest

from graphflip.errors import ConfigError
from graphflip.viewer.config import ViewerConfig


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_listening_everywhere_needs_a_name(host):
    with pytest.raises(ConfigError, match="--name"):
        ViewerConfig(host=host)
    settings = ViewerConfig(host=host, names=("lab.example",))
    assert "lab.example" in settings.hosts
    assert host not in settings.hosts
    assert not settings.is_local
    assert settings.address == "http://lab.example:8765"


def test_this_machine_is_the_default():
    settings = ViewerConfig()
    assert settings.is_local
    assert settings.hosts == {"127.0.0.1", "localhost", "::1"}
    assert ViewerConfig(host="::1").address == "http://[::1]:8765"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"models": ()}, "at least one kit"),
        ({"models": ("a/kit", "b/kit")}, "different names"),
        ({"workers": 0}, "`workers`"),
        ({"seconds": 0.0}, "more than 0"),
    ],
)
def test_settings_that_make_no_sense(wrong, says):
    with pytest.raises(ConfigError, match=says):
        ViewerConfig(**wrong)


def test_titles_hide_paths():
    assert ViewerConfig(models=("some/folder/mine", "aids")).titles == ("mine", "aids")


def test_a_folder_has_a_name_from_wherever_it_is_seen(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert ViewerConfig(models=(".",)).titles == (tmp_path.name,)
    assert ViewerConfig(models=("kit/", "..")).titles == ("kit", tmp_path.parent.name)
    assert ViewerConfig(models=("kit/", "aids")).source("kit") == "kit/"


def test_a_server_is_private_unless_others_can_come():
    assert ViewerConfig().is_private
    assert not ViewerConfig(names=("lab.example",)).is_private
    assert not ViewerConfig(host="192.0.2.7").is_private
