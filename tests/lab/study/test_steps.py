from crisptree.lab.study.steps import CONSENT, Plan, current, steps

PLAN = Plan((2, 0, 1), ((4, 3, 2, 1, 0), (0, 1, 2, 3, 4), (1, 0, 2, 3, 4)))


def test_the_order_of_pages(definition):
    keys = [step.key for step in steps(definition, PLAN)]
    assert keys[:6] == [
        "consent",
        "instructions",
        "practice-mlp",
        "worked-mlp",
        "item-mlp-2",
        "item-mlp-1",
    ]
    assert keys[9:13] == ["ratings-mlp", "practice-tree", "worked-tree", "item-tree-5"]
    assert keys[-1] == "closing" and len(keys) == len(set(keys)) == 27


def test_before_agreeing_there_is_one_page(definition):
    assert steps(definition, None) == (CONSENT,)


def test_current_is_the_first_unanswered(definition):
    sequence = steps(definition, PLAN)
    assert current(sequence, []) == CONSENT
    assert current(sequence, {"consent", "instructions", "closing"}) == sequence[2]
    assert current(sequence, {step.key for step in sequence}) is None
