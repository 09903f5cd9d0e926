"""Twelve small decision problems whose exact optimum is known.

They are written from the descriptions of Vos and Verwer, *Optimal Decision Tree Policies for Markov
Decision Processes* (IJCAI 2023), who optimise the discounted return with γ = 0.99. Here an episode
ends after every step with a chance of 1 − γ, so that the mean return of an episode is that number.
Each environment carries its model as Gymnasium's toy text does (`env.unwrapped.P`).
"""
