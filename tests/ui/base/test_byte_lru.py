"""The cache that sessions share: what stays, what is dropped, and who waits."""

import threading

import pytest

from minigpt.ui.base.byte_lru import ByteLRU


def test_the_least_recently_used_goes_first():
    cache, made = ByteLRU(most=10, size=len), []

    def ask(key: str, value: str) -> str:
        return cache.get(key, lambda: made.append(key) or value)

    assert [ask("a", "1234"), ask("b", "1234"), ask("a", "other")] == ["1234", "1234", "1234"]
    ask("c", "1234")
    assert cache.keys == ("a", "c") and made == ["a", "b", "c"]
    assert cache.sizes() == {"a": 4, "c": 4}
    assert ask("b", "new") == "new"


def test_the_newest_stays_even_if_it_is_too_large():
    cache = ByteLRU(most=3, size=len)
    cache.get("small", lambda: "ab")
    assert cache.get("large", lambda: "abcdef") == "abcdef"
    assert cache.keys == ("large",)
    cache.get("next", lambda: "a")
    assert cache.keys == ("next",)


def test_a_fault_is_raised_and_not_kept():
    cache = ByteLRU(most=3, size=len)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            cache.get("a", lambda: 1 / 0)
    assert cache.keys == () and cache.get("a", lambda: "b") == "b"


def test_one_thread_makes_a_value_and_those_who_ask_for_another_do_not_wait():
    cache, made, begun, go_on = ByteLRU(most=100, size=len), [], threading.Event(), threading.Event()

    def slow() -> str:
        made.append("slow")
        begun.set()
        assert go_on.wait(10)
        return "value"

    found = []
    threads = [threading.Thread(target=lambda: found.append(cache.get("a", slow))) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert begun.wait(10)
    assert cache.get("b", lambda: "at once") == "at once" and not found
    go_on.set()
    for thread in threads:
        thread.join(10)
    assert found == ["value"] * 3 and made == ["slow"]
