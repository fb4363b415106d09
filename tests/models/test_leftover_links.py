"""A link is never taken for a half-written file of ours."""

from graphflip.models.storage.files import leftovers, remove_leftover


def test_a_link_with_the_name_of_a_leftover_stays(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("precious")
    link = tmp_path / ".report.html.0123456789ab.graphflip"
    link.symlink_to(precious)
    assert leftovers(tmp_path) == [link]
    remove_leftover(link)
    assert link.is_symlink()
    assert precious.read_text() == "precious"
