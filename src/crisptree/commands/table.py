"""Every command and what it is for, in one line each; its file has its name."""

COMMANDS = {
    "train": "train a tree on an environment, make it crisp, score it and draw it",
    "distill": "distil any expert into a tree",
    "evaluate": "score a policy file on unseen episodes",
    "show": "read a policy: as text, rules, a drawing or a page to explore",
    "explain": "see which features and splits matter, or what would change one decision",
    "compare": "see where two policies differ, and in what share of the states they meet",
    "export": "write a policy as a program, a query, a table or a model",
    "verify": "prove properties of a policy, or see an observation for which they fail",
    "report": "write one page about a policy that a reviewer can sign",
    "analyze": "see how policy gradient and Q-learning move a tree's threshold on a chain",
    "reproduce": "run the paper's experiments and report its table beside ours",
    "sweep": "see which size of tree is worth it in an environment",
    "zoo": "train trees on many environments by one procedure, and compare",
    "study": "ask people how readable policies are: plan, serve, report",
    "completion": "let the shell complete commands and options",
}
