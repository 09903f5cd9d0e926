"""The real StarCraft II (extra `sc2`): FindAndDefeatZerglings played by the game itself."""

from importlib.util import find_spec

from crisptree.base.errors import CrisptreeError

if find_spec("sc2") is None or find_spec("s2clientprotocol") is None:
    raise CrisptreeError("the StarCraft II client is missing; pip install 'crisptree[sc2]' has it")
