"""The evidence table: experiments on the model at hand, run on request, each with its number."""

import threading
from collections.abc import Callable

import pandas as pd
import streamlit as st

from minigpt.model.evidence import Check, experiments
from minigpt.ui.text import t
from minigpt.ui.view import View

STATE = "checks"  # session: what was checked, the experiments still to be run, the outcomes so far
LARGE = 20_000_000  # parameters: from here on one reader at a time, as two experiments need the model twice more


class Proof:
    """The experiments on one record, run one after the other."""

    def __init__(self, view: View):
        self.large = view.parameters > LARGE
        self.waiting: dict[str, Callable[[], Check]] = experiments(
            view.model, view.tokenizer, view.space.text, view.trace
        )
        self.checks: list[Check] = []

    def advance(self) -> None:
        """Run the next experiment; of a large model only when no other reader runs one."""
        if self.large:
            with _turn():
                self._next()
        else:
            self._next()

    def _next(self) -> None:
        self.checks.append(self.waiting.pop(next(iter(self.waiting)))())


@st.cache_resource(show_spinner=False)
def _turn() -> threading.Lock:
    return threading.Lock()


def draw(view: View) -> None:
    """A button, then what each experiment found for this model, step and record."""
    st.write(t("Twelve experiments on this model and this record, each with the number it found."))
    shown = (view.space.model, view.space.step, view.space.text)
    done, proof = st.session_state.get(STATE, (None, None))
    if done != shown:
        if view.parameters > LARGE:
            st.caption(t("This model is large: they take some seconds each, and one reader runs them at a time."))
        st.button(t("Run the experiments"), key="run_checks", type="primary", on_click=_start, args=(view, shown))
    elif proof.waiting:
        st.fragment(lambda: _progress(proof), run_every=0.3 if proof.large else None)()
    else:
        _result(proof)


def _start(view: View, shown: tuple) -> None:
    proof = Proof(view)
    st.session_state[STATE] = shown, proof
    while not proof.large and proof.waiting:
        proof.advance()


def _progress(proof: Proof) -> None:
    """What is being run, and a way to stop; one experiment each time the clock ticks."""
    if STATE not in st.session_state:
        st.rerun()
    count, cancel = st.columns([4, 1], vertical_alignment="bottom")
    done, every = len(proof.checks), len(proof.checks) + len(proof.waiting)
    name = t(SENTENCES[next(iter(proof.waiting))])
    count.progress(done / every, t("{number} of {all}: {name}", number=done + 1, all=every, name=name))
    cancel.button(t("Cancel"), key="cancel_checks", on_click=lambda: st.session_state.pop(STATE), width="stretch")
    st.caption(t("Each takes some seconds; the table grows as they end."))
    if proof.checks:
        st.dataframe(pd.DataFrame([_row(check) for check in proof.checks]), hide_index=True, width="stretch")
    proof.advance()
    if not proof.waiting:
        st.rerun()


def _result(proof: Proof) -> None:
    passed = sum(check.passed for check in proof.checks)
    st.write(t("{passed} of {all} passed.", passed=passed, all=len(proof.checks)))
    st.dataframe(pd.DataFrame([_row(check) for check in proof.checks]), hide_index=True, width="stretch")


def _row(check: Check) -> dict[str, str]:
    return {
        t("Experiment"): t(SENTENCES[check.name]),
        t("Result"): t("passed") if check.passed else t("FAILED"),
        t("Difference"): f"{check.difference:.3g}",
        t("Allowed"): f"{check.allowed:.3g}",
        t("Numbers"): ", ".join(f"{name} {value:g}" for name, value in check.details.items()),
    }


SENTENCES = {
    "traced_forward": "The stages shown come from the same forward that answers without a trace, bit for bit",
    "future_token": "Change the last token: nothing before it moves",
    "padding_content": "Fill the padding slots with other ids: no real position moves",
    "other_record": "Put another record into the batch: this one does not move",
    "target_shift": "Targets are the inputs shifted once; EOS is scored, BOS never",
    "hidden_weights": "Weights of hidden keys are exactly 0, each row sums to 1",
    "scalar_attention": "Attention computed again by plain loops gives the same numbers",
    "uniform_loss": "With all logits 0 the loss is ln V, whatever the padding",
    "parameter_sum": "The parameter table adds up to what the configuration says",
    "refusals": "Empty, over-long and unknown input is refused",
    "gradient_reach": "The gradient reaches every tensor",
    "one_update": "One update of a copy changes every tensor and lowers the loss",
}
