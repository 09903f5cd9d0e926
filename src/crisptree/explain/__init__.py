"""Reading aids that play: recorded episodes, importance, comparison, counterfactuals."""
