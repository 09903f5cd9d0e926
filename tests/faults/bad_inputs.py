"""Bad inputs that users give, as docs/reliability.md lists them: what it is, the command, and what
the one line says of it. The commands find the files of `FILES`.
"""

import json
import re
import shlex
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

from corpora import records

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "reliability.md"
TREE = json.loads((HERE / "corpus" / "policies" / "tree.json").read_text())
DERIVED, LINEAR = (
    json.loads((HERE / "corpus" / "policies" / f"{name}.json").read_text())
    for name in ("derived-features", "linear-leaves")
)
RECORD = records()[0]


class BadInput(NamedTuple):
    what: str
    command: list[str]
    says: str
    """A part of the line."""


def changed(tree: dict[str, Any], path: str, value: Any) -> str:
    """A file in which one value is another."""
    tree = deepcopy(tree)
    *folders, name = path.split(".")
    part: Any = tree
    for folder in folders:
        part = part[int(folder) if isinstance(part, list) else folder]
    part[int(name) if isinstance(part, list) else name] = value
    return json.dumps(tree)


FILES: dict[str, str | bytes] = {
    "p.json": json.dumps(TREE),
    "box.json": (HERE / "corpus" / "policies" / "real-actions.json").read_text(),
    "bad_envs.py": (HERE / "bad_envs.py").read_text(),
    "evilmod.py": "open('imported', 'w').close()",
    "empty.json": "",
    "words.json": "hello",
    "deep.json": "[" * 100_000,
    "list.json": "[1, 2]",
    "bytes.json": b"\xff\xfe\x00",
    "other.json": '{"format": "a spreadsheet"}',
    "new.json": changed(TREE, "version", 99),
    "nan.json": changed(TREE, "tree.threshold.0", float("nan")),
    "text.json": changed(TREE, "tree.threshold.0", "high"),
    "child.json": changed(TREE, "tree.if_true.0", 99),
    "loop.json": changed(TREE, "tree.if_true.0", 0),
    "feature.json": changed(TREE, "tree.feature.0", 99),
    "action.json": changed(TREE, "tree.action.1", 7),
    "alike.json": changed(TREE, "features.0.name", "pole angle"),
    "no-tree.json": json.dumps({k: v for k, v in TREE.items() if k != "tree"}),
    "module.json": changed(TREE, "env_id", "evilmod:Evil-v0"),
    "function.json": changed(TREE, "feature_function", "evilmod:features"),
    "nameless.json": changed(TREE, "env_id", None),
    "unknown.json": changed(TREE, "env_id", "NoSuchThing-v0"),
    "escapes.json": changed(TREE, "env_id", "\x1b]0;owned\x07\x1b[2J"),
    "field.json": '{"ppo": {"gama": 0.9}}',
    "type.json": '{"ppo": {"gamma": "high"}}',
    "infinite.json": '{"ppo": {"learning_rate": Infinity}}',
    "features.json": '{"env": {"features": "evilmod:features"}}',
    "teacher.json": '{"teacher": {"policy": "evilmod:teach"}}',
    "zip.json": '{"teacher": {"policy": "stranger.zip"}}',
    "derived.json": json.dumps(DERIVED),
    "term.json": changed(DERIVED, "features.4.terms.0", [9, 1.0]),
    "zero.json": changed(DERIVED, "features.4.terms.0", [2, 0.0]),
    "sum.json": changed(DERIVED, "features.4.terms", "x + y"),
    "gain.json": changed(LINEAR, "tree.gains.1.0", [0, 7, 1.0]),
    "entries.json": '[{"name": "t", "suite": "s", "env": "evilmod:T", "leaves": 4}]',
    "leafless.json": '[{"name": "t", "suite": "s", "env": "CartPole-v1", "leaves": "many"}]',
    "no-entries.json": '{"name": "t"}',
    "bad_plants.py": (HERE / "bad_plants.py").read_text(),
    "rows.csv": "cart position,cart velocity\n1,2\n",
    "proof.json": '{"format": "a proof"}',
    "zoo-store/zoo/x.json": '{"format": "crisptree.zoo", "version": 1, "key": 7}',
    "rules.txt": "if the wind is up then fly",
    "secret.txt": "short",
    "damaged-run/config.json": "[1, 2]",
    "strange-run/config.json": '{"config": {"env": {"id": "evilmod:Evil-v0"}}}',
    "used/a-file": "mine",
    "study-of-words.db": "hello, I am no database" * 100,
    "deep-store/records/cartpole/x.json": "[" * 100_000,
    "bad-store/records/cartpole/x.json": changed(RECORD, "seeds.0.policy.tree.threshold", ["a"]),
}


def write_files(folder: Path) -> None:
    for name, content in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def bad_inputs() -> list[BadInput]:
    """The last table of the page."""
    rows = re.findall(r"^\| (.+?) \| `crisptree (.+)` \| (.+) \|$", PAGE.read_text(), re.MULTILINE)
    return [BadInput(what, shlex.split(command), says) for what, command, says in rows]
