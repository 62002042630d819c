"""The store that sessions share: what stays, what is dropped, and who waits."""

import threading

import pytest

from minigpt.ui.base.byte_lru import Store


def test_the_least_recently_used_goes_first():
    store, made = Store(most=10, size=len), []

    def ask(key: str, value: str) -> str:
        return store.get(key, lambda: made.append(key) or value)

    assert [ask("a", "1234"), ask("b", "1234"), ask("a", "other")] == ["1234", "1234", "1234"]
    ask("c", "1234")
    assert store.keys == ("a", "c") and made == ["a", "b", "c"]
    assert store.sizes() == {"a": 4, "c": 4}
    assert ask("b", "new") == "new"


def test_the_newest_stays_even_if_it_is_too_large():
    store = Store(most=3, size=len)
    store.get("small", lambda: "ab")
    assert store.get("large", lambda: "abcdef") == "abcdef"
    assert store.keys == ("large",)
    store.get("next", lambda: "a")
    assert store.keys == ("next",)


def test_a_fault_is_raised_and_not_kept():
    store = Store(most=3, size=len)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            store.get("a", lambda: 1 / 0)
    assert store.keys == () and store.get("a", lambda: "b") == "b"


def test_one_thread_makes_a_value_and_those_who_ask_for_another_do_not_wait():
    store, made, begun, go_on = Store(most=100, size=len), [], threading.Event(), threading.Event()

    def slow() -> str:
        made.append("slow")
        begun.set()
        assert go_on.wait(10)
        return "value"

    found = []
    threads = [threading.Thread(target=lambda: found.append(store.get("a", slow))) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert begun.wait(10)
    assert store.get("b", lambda: "at once") == "at once" and not found
    go_on.set()
    for thread in threads:
        thread.join(10)
    assert found == ["value"] * 3 and made == ["slow"]
