"""The evidence table: experiments on the model at hand, run on request, each with its number."""

import pandas as pd
import streamlit as st

from minigpt.model.evidence import Check, all_checks
from minigpt.ui.text import t
from minigpt.ui.view import View


def draw(view: View) -> None:
    """A button, then what each experiment found for this model, step and record."""
    st.write(t("Twelve experiments on this model and this record, each with the number it found."))
    shown = (view.space.model, view.space.step, view.space.text)
    st.button(t("Run the experiments"), key="run_checks", type="primary", on_click=_run, args=(view, shown))
    done, checks = st.session_state.get("checks", (None, []))
    if done != shown:
        return
    passed = sum(check.passed for check in checks)
    st.write(t("{passed} of {all} passed.", passed=passed, all=len(checks)))
    st.dataframe(pd.DataFrame([_row(check) for check in checks]), hide_index=True, width="stretch")


def _run(view: View, shown: tuple) -> None:
    st.session_state["checks"] = shown, all_checks(view.model, view.tokenizer, view.space.text)


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
