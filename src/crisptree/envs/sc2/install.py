"""Checks that StarCraft II and the map are installed, without loading the game or its client."""

import os
import platform
from pathlib import Path

from crisptree.base.errors import CrisptreeError

MAP = Path("mini_games") / "FindAndDefeatZerglings.SC2Map"
HOMES = {
    "Linux": "~/StarCraftII",
    "Darwin": "/Applications/StarCraft II",
    "Windows": "C:/Program Files (x86)/StarCraft II",
}


def check_installed() -> Path:
    """The map's path as the game takes it; an error if the game or the map is missing."""
    home = Path(os.environ.get("SC2PATH") or HOMES.get(platform.system(), HOMES["Linux"]))
    home = home.expanduser()
    if not any((home / "Versions").glob("Base*")):
        raise CrisptreeError(
            f"StarCraft II is not at {home}: unpack Blizzard's Linux package (from "
            "github.com/Blizzard/s2client-proto) or install the game there, or point SC2PATH to it"
        )
    folder = home / ("maps" if (home / "maps").exists() else "Maps")
    if not (folder / MAP).is_file():
        raise CrisptreeError(
            f"the map is not at {folder / MAP}: unpack mini_games.zip (from the releases of "
            f"github.com/google-deepmind/pysc2) into {folder}"
        )
    return MAP
