"""One start, from nothing to a crisp policy: stages in a row, each resumable.

Every stage depends on the settings, the seed and what the stages before it have written, and on
nothing else: a run that was interrupted and resumed ends with the same bytes.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from crisptree import soft
from crisptree.crisp import CrispTree
from crisptree.crispen.distill import Teacher, distill, fit_cart
from crisptree.crispen.expert import read_expert
from crisptree.crispen.prune import (
    prune_by_disagreement,
    prune_by_return,
    prune_flawless,
    prune_free,
    visited_states,
)
from crisptree.crispen.redraw import redrawing
from crisptree.crispen.refine import Snapshot, anneal
from crisptree.crispen.rule_lists import fit_list
from crisptree.crispen.search import search
from crisptree.crispen.select import Selection
from crisptree.crispen.soften import soften
from crisptree.envs.registry import greatest_return, is_functional
from crisptree.envs.spaces import describe
from crisptree.learn.agent import Agent
from crisptree.learn.ahead import compiled_ahead
from crisptree.learn.config import Learning
from crisptree.learn.creation import Beginning, beginning_at_random, beginning_with
from crisptree.learn.moments import Moments
from crisptree.learn.session import Segment, learn, segment_for
from crisptree.learn.stacks import pick
from crisptree.pipeline.directory import RunDirectory
from crisptree.pipeline.keeper import Carry, Keeper
from crisptree.pipeline.recipe import Recipe, ladder, recipe_for
from crisptree.pipeline.report import Reporter
from crisptree.pipeline.settings import Settings
from crisptree.pipeline.teachers import external_teacher, greedy

SEGMENT = 16
HOST_ROUNDS = (32, 64, 128)
COMPILED_ROUNDS = (64, 256, 1024)
"""Selection episodes of the race between snapshots; compiled ones cost next to nothing."""


@dataclass(frozen=True)
class Arrived:
    """The end of the way."""

    tree: CrispTree
    selection_return: float
    records: tuple[dict[str, Any], ...]


class Way:
    def __init__(
        self, settings: Settings, seed: int, directory: RunDirectory, tell: Reporter
    ) -> None:
        self.settings, self.seed, self.directory, self.tell = settings, seed, directory, tell
        self.task = describe(settings.env)
        self.recipe: Recipe = fitted(recipe_for(settings.env), settings)
        self.records: list[dict[str, Any]] = []
        self._count, self._named = 0, Counter[str]()

    def go(self) -> Arrived:
        """The start, the ladder of sizes, the polish, the cuts that cost nothing, the search."""
        tree, carry = self._start()
        hurt = False
        for size in ladder(tree.n_leaves, self.settings.size, self.recipe.race_below):
            if tree.n_leaves > size:
                tree, carry, costs = self._down(tree, carry, size)
                hurt |= costs
        if hurt and self.recipe.polish_share > 0:
            tree, carry = self._refine(tree, carry, self.recipe.polish, self.recipe.polish_share)
        tree = self._search(self._cut_for_free(tree))
        return Arrived(tree, self.records[-1]["selection_return"], tuple(self.records))

    # The starts: from nothing, from a teacher, from an expert's tree.

    def _start(self) -> tuple[CrispTree, Carry]:
        if self.settings.start_from is not None:
            return self._from_expert(self.settings.start_from)
        if self.settings.teacher is not None:
            teacher, carry = self._teacher(self.settings.teacher)
        else:
            tree, carry = self._direct()
            if self.settings.shape == "tree":
                return tree, carry
            teacher = _imitable(tree)
        tree = self._distil(teacher)
        return self._refine(tree, carry, self.recipe.first_refine, self.recipe.mend_share)

    def _direct(self) -> tuple[CrispTree, Carry]:
        config, n_updates = self.recipe.learning, self._updates(1.0, self.recipe.learning)
        return self._anneal(
            f"direct-{self.recipe.wide}",
            beginning_at_random(
                self.recipe.starts,
                soft.balanced(self.recipe.wide),
                self.task.n_features,
                self.task.n_actions,
                config,
                n_updates,
                seed=self.seed,
                numbers=(self._count, self._count + 1),
            ),
            config,
            around=lambda segment: redrawing(segment, self._met_by, self.recipe.redraw_until),
            enough=None if self.settings.shape == "tree" else 0,
        )

    def _met_by(self, agent: Agent, number: int) -> np.ndarray:
        """Standardised states that a soft agent meets, its actions sampled."""
        dice = np.random.default_rng([self._number(), number])

        def act(states: np.ndarray) -> np.ndarray:
            log_policy = np.asarray(_log_policy(agent, jnp.asarray(states)))
            return (log_policy + dice.gumbel(size=log_policy.shape)).argmax(-1)

        states = visited_states(act, self.task.env_id, number, n_steps=200)
        return np.asarray(agent.observations.standardise(jnp.asarray(states)))

    def _from_expert(self, path: Path) -> tuple[CrispTree, Carry]:
        expert = read_expert(path, self.task)
        return self._refine(expert, self._seen_by(_imitable(expert)), self.recipe.first_refine, 1.0)

    def _teacher(self, name: str) -> tuple[Teacher, Carry]:
        if name not in ("soft", "mlp"):
            teacher = external_teacher(name, self.task)
            return teacher, self._seen_by(teacher)
        config = self.recipe.teacher if name == "mlp" else self.recipe.soft
        key = self._key()
        sizes = (self.task.n_features, self.task.n_actions)
        actor = (
            soft.MLP.random((sizes[0], 64, 64, sizes[1]), key=key, activation="tanh")
            if name == "mlp"
            else soft.SoftTree.random(soft.balanced(32), *sizes, key=key)
        )
        agent = self._train_soft(f"teacher-{name}", actor, config, self.recipe.teacher_share)
        return greedy(agent), Carry(agent.critic, agent.observations)

    def _seen_by(self, teacher: Teacher) -> Carry:
        """Moments of what somebody else's policy meets, and a fresh critic."""
        states = visited_states(teacher, self.task.env_id, self.seed)
        moments = Moments.empty((self.task.n_features,)).with_batch(
            jnp.asarray(states), jnp.ones(len(states), bool)
        )
        nothing = Carry.empty(self.task.n_features, self.recipe.learning.critic_width)
        return eqx.tree_at(lambda carry: carry.observations, nothing, moments)

    # The stages.

    def _train_soft(self, name: str, actor: Any, config: Learning, share: float) -> Agent:
        keeper = self._stage(name, config)
        n_updates = self._updates(share, config)
        n_features, key = self.task.n_features, self._key()
        beginning = beginning_with([actor], n_features, config, n_updates, key=key)
        agents, _ = keeper.resumed(beginning.agents())
        segment = segment_for(self.task.env_id, config, 1, self._number(), SEGMENT)
        for progress in learn(agents, segment, SEGMENT):
            agents = progress.agents
            keeper.segment(progress)
        agent = pick(agents, 0)
        if keeper.result() is None:
            figures = {"training_return": keeper.training_return()}
            keeper.finish({**figures, "steps": n_updates * config.steps_per_update}, agent=agents)
        self._record(keeper)
        return agent

    def _anneal(
        self,
        name: str,
        beginning: Beginning,
        config: Learning,
        before: CrispTree | None = None,
        around: Callable[[Segment], Segment] = lambda segment: segment,
        enough: int | None = None,
    ) -> tuple[CrispTree, Carry]:
        """Learn and read off; the tree `before` it stays if nothing better comes. A flawless one
        of `enough` leaves (those asked for, unless told) is the last that is learned. Agents are
        made while the program for them is compiled."""
        keeper, carry = self._stage(name, config), None
        if keeper.result() is None:
            shapes = beginning.shapes()
            n_starts = len(shapes.update)
            segment = segment_for(self.task.env_id, config, n_starts, self._number(), SEGMENT)
            if is_functional(self.task.env_id):
                segment = compiled_ahead(segment, self.task.env_id, config, SEGMENT, shapes)
            agents = beginning.agents()
            agents, snapshots = keeper.resumed(agents)
            if before is not None and not snapshots:
                snapshots = [Snapshot(before, 0)]
            refined = anneal(
                agents,
                self.task,
                around(segment),
                self._selection(),
                snapshots=snapshots,
                on_segment=keeper.segment,
                rounds=COMPILED_ROUNDS if is_functional(self.task.env_id) else HOST_ROUNDS,
                enough=self.settings.size if enough is None else enough,
            )
            carry = Carry(refined.agent.critic, refined.agent.observations)
            keeper.finish(
                {
                    "leaves": refined.tree.n_leaves,
                    "training_return": keeper.training_return(refined.start),
                    "selection_return": refined.selection_return,
                    "steps": int(refined.agent.update) * config.steps_per_update * n_starts,
                },
                refined.tree,
                carry,
            )
        self._record(keeper)
        if carry is None:
            carry = keeper.carry(self.task.n_features, config.critic_width)
        return keeper.tree(), carry

    def _refine(
        self, tree: CrispTree, carry: Carry, config: Learning, share: float
    ) -> tuple[CrispTree, Carry]:
        if tree.n_leaves == 1:
            return tree, carry
        config = self.recipe.for_shape(config, self.settings.shape)
        assert config.steepness is not None
        beginning = beginning_with(
            [soften(tree, carry.observations, config.steepness[0])],
            self.task.n_features,
            config,
            self._updates(share, config),
            key=self._key(self._count + 1),
            critic=carry.critic,
            observations=carry.observations,
        )
        return self._anneal(f"refine-{tree.n_leaves}", beginning, config, tree)

    def _distil(self, teacher: Teacher) -> CrispTree:
        keeper = self._stage("distil", self.recipe.learning)
        if keeper.result() is None:
            rounds = self.recipe.rounds
            done = distill(
                teacher,
                self.task,
                self.recipe.distilled(self.settings.size, self.settings.shape),
                self._selection(),
                seed=self._number(),
                rounds=rounds,
                fit=fit_cart if self.settings.shape == "tree" else fit_list,
                report=lambda i, score: self.tell.advance(
                    keeper.name, i / rounds, f"return {score:8.1f}"
                ),
            )
            figures = {"leaves": done.tree.n_leaves, "agreement": done.agreement}
            keeper.finish({**figures, "selection_return": done.selection_return}, done.tree)
        self._record(keeper)
        return keeper.tree()

    def _down(self, tree: CrispTree, carry: Carry, size: int) -> tuple[CrispTree, Carry, bool]:
        """Cut to `size`, refined where that costs. What a teacher taught is tried a few times on
        the way to a small tree, each with episodes of its own to cut by, and the best goes on."""
        budget, recipe, tries = self.settings.size, self.recipe, []
        taught = self.settings.teacher is not None
        for _ in range(recipe.tries_at(size, budget, taught)):
            smaller, costs = self._prune(tree, size)
            mended = (smaller, carry)
            if costs and size > budget:
                mended = self._refine(smaller, carry, recipe.refine, recipe.refine_share)
            elif costs and recipe.refines_last_cut(budget):
                mended = self._refine(smaller, carry, recipe.polish, recipe.refine_share)
            tries.append((*mended, costs, self.records[-1].get("training_return")))
        if len(tries) == 1:
            return tries[0][:3]
        keeper = self._stage(f"choose-{size}", recipe.learning)
        if keeper.result() is None:
            index, score = self._selection().race([each for each, *_ in tries], (512,))
            chosen, *_, in_training = tries[index]
            figures = {"leaves": chosen.n_leaves, "training_return": in_training, "choice": index}
            keeper.finish({**figures, "selection_return": score}, chosen)
        return tries[self._record(keeper)["choice"]][:3]

    def _prune(self, tree: CrispTree, size: int) -> tuple[CrispTree, bool]:
        """The smaller tree, and whether it earns less: only then is there something to mend."""
        keeper = self._stage(f"prune-{size}", self.recipe.learning)
        if keeper.result() is None:
            self.tell.advance(keeper.name, 0.0, f"from {tree.n_leaves} leaves")
            states = visited_states(_imitable(tree), self.task.env_id, self._number())
            smaller = (
                prune_by_disagreement(tree, size, states)
                if size > self.recipe.race_below
                else prune_by_return(tree, size, states, self._selection())
            )
            before, after = (r.mean() for r in self._selection().returns([tree, smaller], 128))
            figures = {"leaves": smaller.n_leaves, "selection_return": float(after)}
            keeper.finish({**figures, "costs": bool(after < before)}, smaller)
        return keeper.tree(), self._record(keeper)["costs"]

    def _cut_for_free(self, tree: CrispTree) -> CrispTree:
        keeper = self._stage("simplify", self.recipe.learning)
        if keeper.result() is None:
            self.tell.advance(keeper.name, 0.0, f"from {tree.n_leaves} leaves")
            selection = self._selection()
            states = visited_states(_imitable(tree), self.task.env_id, self._number())
            prune = prune_flawless if self._was_flawless() else prune_free
            tree = prune(tree, states, selection)
            score = float(np.mean(selection.returns([tree], 512)[0]))
            keeper.finish({"leaves": tree.n_leaves, "selection_return": score}, tree)
        self._record(keeper)
        return keeper.tree()

    def _search(self, tree: CrispTree) -> CrispTree:
        keeper = self._stage("search", self.recipe.learning)
        if keeper.result() is None:
            selection, settings = self._selection(), self.recipe.search
            tree = search(
                tree,
                settings,
                selection,
                lambda tree: visited_states(
                    _imitable(tree), self.task.env_id, self._number(), n_steps=200
                ),
                np.random.default_rng(self._number()),
                report=lambda sweep, tree: self.tell.advance(
                    keeper.name, sweep / settings.sweeps, f"{tree.n_leaves} leaves"
                ),
            )
            score = float(np.mean(selection.returns([tree], 512)[0]))
            keeper.finish({"leaves": tree.n_leaves, "selection_return": score}, tree)
        self._record(keeper)
        return keeper.tree()

    def _was_flawless(self) -> bool:
        """Whether the stage before lost nothing, where it is known what can be earned."""
        before = self.records[-1] if self.records else {}
        return before.get("selection_return") == greatest_return(self.task.env_id)

    # Numbers and names.

    def _stage(self, name: str, config: Learning) -> Keeper:
        self._count += 1
        self._named[name] += 1
        if self._named[name] > 1:
            name = f"{name}-{self._named[name]}"
        return Keeper(self.directory, self._count, name, config.steps_per_update, self.tell)

    def _number(self) -> int:
        """A number for this stage's host randomness."""
        return self.seed * 1000 + self._count

    def _key(self, number: int | None = None):
        """For this stage, unless told."""
        return jax.random.fold_in(
            jax.random.key(self.seed), self._count if number is None else number
        )

    def _selection(self) -> Selection:
        return Selection(self.task.env_id, self._number())

    def _updates(self, share: float, config: Learning) -> int:
        return max(1, int(share * self.recipe.steps) // config.steps_per_update)

    def _record(self, keeper: Keeper) -> dict[str, Any]:
        record = keeper.result()
        assert record is not None
        self.records.append(record)
        parts = [f"{record['leaves']} leaves"] if "leaves" in record else []
        if record.get("training_return") is not None:
            parts.append(f"in training {record['training_return']:.1f}")
        if record.get("selection_return") is not None:
            parts.append(f"crisp {record['selection_return']:.1f}")
        self.tell.note(f"  {keeper.name:<14} {record['seconds']:6.1f} s   {', '.join(parts)}")
        return record


@eqx.filter_jit
def _log_policy(agent: Agent, states: jax.Array) -> jax.Array:
    return agent.log_policy(states)


def fitted(recipe: Recipe, settings: Settings) -> Recipe:
    """The recipe with what the person asked for."""
    wide = max(recipe.wide, settings.size)
    changes: dict[str, Any] = {"wide": wide}
    if settings.steps is not None:
        changes["steps"] = settings.steps
    if settings.learning_rate is not None:
        changes["learning"] = replace(recipe.learning, learning_rate=settings.learning_rate)
    return replace(recipe, **changes)


def _imitable(tree: CrispTree) -> Teacher:
    return lambda states: np.asarray(tree.predict(states)[0])
