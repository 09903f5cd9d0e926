"""Learning: PPO, REINFORCE and Q-learning of soft trees and MLPs.

`ppo`, `reinforce`, `dqn`: each has `init(actor, n_features, config, n_updates, *, key, head=None,
critic=None, observations=None) -> State` and `update(state, trajectory, config) -> (state,
metrics)`. `Trainer(task, config, n_seeds, seed)` collects trajectories and calls them. Stacked
along a first axis (`stacking.stack`), a state is several seeds.
"""
