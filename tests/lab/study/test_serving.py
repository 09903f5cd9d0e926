import numpy as np
import pytest
from people import on

from crisptree.base.errors import CrisptreeError
from crisptree.crisp import CrispTree
from crisptree.lab.study.questionnaire import Questionnaire
from crisptree.lab.study.serving import listen, load_aids, open_study, researcher_secret, url_of

TREE = CrispTree.from_nested(("a", 0.1, "right", "left"), ("a",), ("left", "right"))


@pytest.fixture
def no_secret(monkeypatch):
    monkeypatch.delenv("CRISPTREE_STUDY_SECRET", raising=False)


def visit(policy, env_id):
    return np.random.default_rng(0).normal(size=(300, policy.n_features))


def opened(engine, name="study", policies=(), own=None):
    return on(engine, open_study, name, policies, own, n_items=5, seed=0, visit=visit)


def test_policies_by_file_and_kind(tmp_path):
    TREE.save(tmp_path / "p.json")
    path = str(tmp_path / "p.json")
    assert [aid.kind for aid in load_aids([path, f"tree:{path}", f"list:{path}"])] == [
        "list",
        "tree",
        "list",
    ]
    assert [aid.kind for aid in load_aids([])] == ["tree", "list", "mlp"]


def test_a_study_goes_on_where_it_was(sqlite_engine):
    first = opened(sqlite_engine)
    assert opened(sqlite_engine).join_code == first.join_code
    assert opened(sqlite_engine, own=Questionnaire()).join_code == first.join_code
    assert opened(sqlite_engine, name="other").join_code != first.join_code


def test_a_study_never_changes(sqlite_engine, tmp_path):
    opened(sqlite_engine)
    TREE.save(tmp_path / "p.json")
    path = str(tmp_path / "p.json")
    with pytest.raises(CrisptreeError, match="cannot change any more"):
        opened(sqlite_engine, policies=[f"tree:{path}", path])
    with pytest.raises(CrisptreeError, match="cannot change any more"):
        opened(sqlite_engine, own=Questionnaire(title="Other"))


def test_names_are_simple(sqlite_engine):
    with pytest.raises(CrisptreeError, match="must be a-z"):
        opened(sqlite_engine, name='a"b')


def test_a_policy_without_an_environment_is_refused(sqlite_engine, tmp_path):
    TREE.save(tmp_path / "p.json")
    path = str(tmp_path / "p.json")
    with pytest.raises(CrisptreeError, match="does not say its environment"):
        opened(sqlite_engine, policies=[path, path])


def test_a_secret_comes_from_a_file_the_environment_or_chance(tmp_path, monkeypatch, no_secret):
    secret, is_new = researcher_secret(None)
    assert is_new and len(secret) >= 20 and secret != researcher_secret(None)[0]
    monkeypatch.setenv("CRISPTREE_STUDY_SECRET", "from the environment")
    assert researcher_secret(None) == ("from the environment", False)
    (tmp_path / "secret").write_text("from the file\n")
    assert researcher_secret(tmp_path / "secret") == ("from the file", False)


def test_a_bad_secret_is_refused(tmp_path, monkeypatch, no_secret):
    monkeypatch.setenv("CRISPTREE_STUDY_SECRET", "short")
    with pytest.raises(CrisptreeError, match="has 5 characters"):
        researcher_secret(None)
    with pytest.raises(CrisptreeError, match="cannot read the secret"):
        researcher_secret(tmp_path / "none")


def test_an_address_with_colons_stands_in_brackets():
    with listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        assert url_of("127.0.0.1", listener) == f"http://127.0.0.1:{port}"
        assert url_of("::1", listener) == f"http://[::1]:{port}"


def test_a_port_in_use_is_told():
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CrisptreeError, match=f"cannot listen at 127.0.0.1, port {port}"):
            listen("127.0.0.1", port)
    with pytest.raises(CrisptreeError, match="cannot listen"):
        listen("127.0.0.1", 99999)
