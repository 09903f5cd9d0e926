"""How often somebody may ask: a bucket of tokens each, refilled steadily. Kept in memory only."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

MOST_KEYS = 20_000


class RateLimit:
    """`burst` requests at once, `per_second` in the long run, for each key apart."""

    def __init__(
        self, burst: int, per_second: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._burst, self._per_second, self._clock = burst, per_second, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def allows(self, key: str) -> bool:
        """Take a token from the key's bucket, if there is one."""
        with self._lock:
            now = self._clock()
            left, since = self._buckets.pop(key, (float(self._burst), now))
            left = min(self._burst, left + (now - since) * self._per_second)
            allowed = left >= 1
            self._buckets[key] = (left - 1 if allowed else left, now)
            if len(self._buckets) > MOST_KEYS:
                self._buckets.popitem(last=False)  # the key unused for longest
            return allowed
