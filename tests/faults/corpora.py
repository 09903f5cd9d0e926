"""Sound files that the fault suite damages: policies from `corpus/`, records and configurations as
this crisptree writes them."""

import json
import tempfile
from pathlib import Path
from typing import Any

from made_records import made
from small import small_config

from crisptree.pipeline.config import TrainConfig
from crisptree.pipeline.config_io import command, config_hash, save, to_dict

POLICIES = sorted((Path(__file__).parent / "corpus" / "policies").glob("*.json"))
_folder = tempfile.TemporaryDirectory(prefix="crisptree-faults-")  # it goes with the process
SMALL = Path(_folder.name) / "small.json"
"""The configuration of a training of seconds."""
save(small_config(), SMALL)

BY_HAND = {
    "env": {"id": "CartPole-v1", "kwargs": {"max_episode_steps": 100}},
    "ppo": {"gamma": 0.97, "n_envs": 16},
    "policy": {"kind": "list", "size": 4},
    "candidates": {"beginnings": ["mlp", "direct"]},
}


def configs() -> list[bytes]:
    """What a user writes, every field there is, a small one, and what is in a run's folder."""
    small = small_config()
    of_a_run = {
        "config": to_dict(small),
        "config_hash": config_hash(small),
        "command": command(small),
        "measured": {"steps_per_second": 30_000.0, "episode_length": 22.5},
        "crisptree": "0.2.0",
    }
    every = [BY_HAND, to_dict(TrainConfig()), to_dict(small), of_a_run]
    return [json.dumps(each, indent=1).encode() for each in every]


def records() -> list[dict[str, Any]]:
    """Records of four models."""
    every = (
        made("crisp-tree", 8, (71.0,)),
        made("mlp", 2, (60.0, 61.0)),
        made("random", None, (10.0, 12.0)),
        made("soft-tree", 4, (90.0, 100.0), crisp_scores=(30.0, 50.0)),
    )
    return [record.to_dict() for record in every]
