"""A plant as a Gymnasium environment, to train and to play in."""

from typing import Any

import gymnasium
import numpy as np

from crisptree.verify.plants.plant import Plant


class PlantEnv(gymnasium.Env):
    """Episodes of a plant: starts and disturbances are drawn evenly from their ranges."""

    def __init__(self, plant: Plant, render_mode: str | None = None) -> None:
        self.plant, self.render_mode = plant, render_mode
        count = len(plant.feature_names)
        seen_as = np.dtype(plant.observed_as).type
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (count,), seen_as)
        actions = plant.actions
        if actions.kind == "discrete":
            self.action_space = gymnasium.spaces.Discrete(len(actions.names))
        elif actions.kind == "multi_discrete":
            self.action_space = gymnasium.spaces.MultiDiscrete([len(p) for p in actions.choices])
        else:
            low, high = np.array(actions.low), np.array(actions.high)
            self.action_space = gymnasium.spaces.Box(
                low.astype(actions.dtype),
                high.astype(actions.dtype),
                dtype=np.dtype(actions.dtype).type,
            )
        self.metadata = {
            "render_modes": [],
            "feature_names": list(plant.feature_names),
            "action_names": list(actions.names),
        }
        self.state = plant.reset_box.mean(axis=1)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        box = self.plant.reset_box
        self.state = self.np_random.uniform(box[:, 0], box[:, 1])
        return self._seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        acting = self.plant.disturbance_box
        drawn = self.np_random.uniform(acting[:, 0], acting[:, 1])
        before, own = self.state, np.array([action])
        self.state = self.plant.play(before[None], own, drawn[None])[0]
        reward = 1.0
        if self.plant.reward is not None:
            chosen = own[0] if own.ndim == 1 else list(own[0])
            reward = float(self.plant.reward(np, list(before), chosen, list(self.state)))
        return self._seen(), reward, self._is_over(), False, {}

    def _seen(self) -> Any:
        return self.plant.observations(self.state[None])[0]

    def _is_over(self) -> bool:
        values = self.plant.quantities_of(self.state[None])[0]

        def inside(bounds: Any) -> bool:
            box = self.plant.box(bounds)
            return bool(((values >= box[:, 0]) & (values <= box[:, 1])).all())

        return not inside(self.plant.limits) or (bool(self.plant.goal) and inside(self.plant.goal))
