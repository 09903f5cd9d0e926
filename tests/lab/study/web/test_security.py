from crisptree.lab.study.web.security import MOST_KEYS, RateLimit


def test_a_burst_and_then_a_steady_pace():
    now = [0.0]
    limit = RateLimit(3, 0.5, clock=lambda: now[0])
    assert [limit.allows("a") for _ in range(5)] == [True, True, True, False, False]
    now[0] = 2.0
    assert [limit.allows("a") for _ in range(2)] == [True, False]
    now[0] = 1000.0
    assert [limit.allows("a") for _ in range(4)] == [True, True, True, False]


def test_keys_do_not_share():
    limit = RateLimit(1, 0.0, clock=lambda: 0.0)
    assert limit.allows("a") and limit.allows("b") and not limit.allows("a")


def test_memory_is_bounded():
    limit = RateLimit(1, 0.0, clock=lambda: 0.0)
    for at in range(MOST_KEYS + 10):
        limit.allows(str(at))
    assert len(limit._buckets) == MOST_KEYS
