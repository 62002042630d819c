"""Experiments on the model at hand, run on request, each with its number."""

import threading
from collections.abc import Callable

import streamlit as st

from minigpt.inspection.experiments import Check, experiments
from minigpt.sentences import say
from minigpt.ui.base.text import t, translate
from minigpt.ui.base.view import View
from minigpt.ui.components.table import Column, table

STATE = "checks"  # session: what was checked, the experiments still to be run, the outcomes so far
HEIGHT = 4000  # px: all rows on screen, however their sentences break
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
    """A button, then how many experiments passed for this model, step and record; `numbers` draws their table."""
    st.write(t("Twelve experiments on this model and this record, each with the number it found."))
    shown, proof = _shown(view), _proof(view)
    if proof is None:
        if view.parameters > LARGE:
            st.caption(t("This model is large: they take some seconds each, and one reader runs them at a time."))
        st.button(t("Run the experiments"), key="run_checks", type="primary", on_click=_start, args=(view, shown))
    elif proof.waiting:
        st.fragment(lambda: _progress(proof), run_every=0.3 if proof.large else None)()
    else:
        passed = sum(check.passed for check in proof.checks)
        st.write(t("{passed} of {all} checks passed. Their numbers are below.", passed=passed, all=len(proof.checks)))


def numbers(view: View) -> None:
    """What each experiment found, all rows as wide as the page; nothing before they have run."""
    proof = _proof(view)
    if proof is None or proof.waiting:
        return
    st.subheader(t("What the experiments found"))
    columns = (
        Column(t("Experiment"), [translate(SENTENCES[check.name]) for check in proof.checks], "words"),
        Column(t("Result"), [_verdict(check) for check in proof.checks]),
        Column(t("Difference"), [f"{check.difference:.3g}" for check in proof.checks], "number"),
        Column(t("Allowed"), [f"{check.allowed:.3g}" for check in proof.checks], "number"),
        Column(t("Numbers"), [_details(check) for check in proof.checks], "words"),
    )
    table(columns, key="experiments", label=t("What the experiments found"), height=HEIGHT)


def _shown(view: View) -> tuple[str, int, str]:
    return view.space.model, view.step, view.space.text


def _proof(view: View) -> Proof | None:
    """The experiments on what is shown; None when none were asked for."""
    done, proof = st.session_state.get(STATE, (None, None))
    return proof if done == _shown(view) else None


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
    name = translate(SENTENCES[next(iter(proof.waiting))])
    count.progress(done / every, t("{number} of {all}: {name}", number=done + 1, all=every, name=name))
    cancel.button(t("Cancel"), key="cancel_checks", on_click=lambda: st.session_state.pop(STATE), width="stretch")
    st.caption(t("Each takes some seconds; their numbers follow when all have run."))
    if proof.checks:
        names = [translate(SENTENCES[check.name]) for check in proof.checks]
        verdicts = [_verdict(check) for check in proof.checks]
        columns = Column(t("Experiment"), names, "words"), Column(t("Result"), verdicts)
        table(columns, key="experiments_so_far", label=t("The experiments so far"), height=HEIGHT)
    proof.advance()
    if not proof.waiting:
        st.rerun()


def _verdict(check: Check) -> str:
    return t("passed") if check.passed else t("FAILED")


def _details(check: Check) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in check.details.items())


SENTENCES = {
    "traced_forward": say("The stages shown come from the same forward that answers without a trace, bit for bit"),
    "future_token": say("Change the last token: nothing before it moves"),
    "padding_content": say("Fill the padding slots with other ids: no real position moves"),
    "other_record": say("Put another record into the batch: this one does not move"),
    "target_shift": say("Targets are the inputs shifted once; EOS is scored, BOS never"),
    "hidden_weights": say("Weights of hidden keys are exactly 0, each row sums to 1"),
    "scalar_attention": say("Attention computed again by plain loops gives the same numbers"),
    "uniform_loss": say("With all logits 0 the loss is ln V, whatever the padding"),
    "parameter_sum": say("The parameter table adds up to what the configuration says"),
    "refusals": say("Empty, over-long and unknown input is refused"),
    "gradient_reach": say("The gradient reaches every tensor"),
    "one_update": say("One update of a copy changes every tensor and lowers the loss"),
}
