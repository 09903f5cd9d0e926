"""Plants: systems as equations, to be played in and proved about."""

from crisptree.verify.plants.plant import Plant as Plant
from crisptree.verify.plants.registry import plant_named as plant_named
from crisptree.verify.plants.registry import plant_of as plant_of
