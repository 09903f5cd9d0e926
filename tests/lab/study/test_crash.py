"""The server is killed in the middle: what it said was saved is there, and once only."""

from load_run import KillableServer, load_run, n_pages


def test_six_people_and_a_kill(database, definition, tmp_path):
    assert n_pages(definition) == 27
    found = load_run(database, definition, 6, tmp_path, [KillableServer.kill_and_start])
    assert (found.finished, found.confirmed, found.kills) == (6, 6 * 27, 1)
    assert (found.lost, found.repeated, found.unbalanced) == (0, 0, 0)
