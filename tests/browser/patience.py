"""Waiting is asking again until it is so; the limit only ends a test that would hang."""

import time

LIMIT_S = 60.0


def until(condition, what, limit=LIMIT_S, shown=lambda: ""):
    """Until the condition has a value that counts; that value. `shown` says more of a failure."""
    end = time.monotonic() + limit
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"never came true in {limit:.0f} s: {what}\n{shown()}".rstrip())
        time.sleep(0.02)
    return value
