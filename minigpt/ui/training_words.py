"""What the training page says about runs: titles, states, phases."""

from functools import lru_cache
from pathlib import Path

from minigpt.config import ModelConfig, to_dict
from minigpt.corpus.baselines import Baselines
from minigpt.presets import PRESETS
from minigpt.shapes import changed_words
from minigpt.sources import BUNDLED
from minigpt.training.feed import Feed
from minigpt.training.info import RunInfo, read_info
from minigpt.training.loop import Evaluation
from minigpt.training.phases import overfitting, phases
from minigpt.training.progress import duration
from minigpt.training.shelf import read_label, run_folder
from minigpt.ui.text import t
from minigpt.ui.trainer import State

STATES = {
    "created": "Ready at step 0.",
    "loading": "Getting ready.",
    "running": "Running.",
    "paused": "Paused after step {step}.",
    "stopped": "Stopped after step {step}; it can go on from there.",
    "interrupted": "Interrupted: nobody trains it now. It can go on from step {step} or a little before.",
    "finished": "Finished after {step} steps.",
}
PHASES = {
    "fast": "fast fall to {loss:.2f} until step {last} (which pieces are frequent, what often follows what)",
    "slow": "slower fall to {loss:.2f} until step {last} (longer patterns)",
    "plateau": "plateau near {loss:.2f} from step {first} on",
}


def run_title(id: str) -> str:
    """How a run is called: its name if it has one, its settings, and the end of its id."""
    try:
        return _title(run_folder(id))
    except ValueError:
        return t("deleted run {id}", id=id[-4:])


@lru_cache(maxsize=1024)  # nothing of it changes while the run is there, and a deleted one keeps its name
def _title(folder: Path) -> str:
    info, label = read_info(folder), read_label(folder)
    changed = shape_words(info.preset, info.model)
    text = "{shape}; rate {rate:g}" if changed else "{shape}, rate {rate:g}"
    about = t(text, shape=changed or info.preset, rate=info.training.learning_rate)
    if label is None:
        return t("Command line: {about} · {id}", about=about, id=folder.name)
    return t("{name}: {about} · {id}", name=label.name or t("Run"), about=about, id=folder.name[-4:])


def shape_words(preset_name: str, model: ModelConfig) -> str:
    """Where a shape is not that of its preset: `mg-1, changed: width 24, heads 3`; "" for the preset itself.

    The vocabulary follows from the corpus, hidden layers in the preset's ratio from the width; a seed is
    no shape. A preset that is no longer there has no changes.
    """
    if preset_name not in PRESETS:
        return ""
    base, values = PRESETS[preset_name].model, to_dict(model)
    follows = {"vocab_size", "init_seed"}
    if model.ffn_width == model.width * base.ffn_width // base.width:
        follows.add("ffn_width")
    return changed_words(preset_name, {name: value for name, value in values.items() if name not in follows})


def source_title(id: str) -> str:
    """How a run is called in a comparison: `mini-gpt` is the shipped one."""
    return t("the shipped run") if id == BUNDLED else run_title(id)


def status(state: State, step: int) -> str:
    """How the run stands, in a sentence."""
    if state.status == "queued":
        return t("Waiting for its turn, number {place} in the queue.", place=state.place)
    return t(STATES.get(state.status, ""), step=f"{step:,}")


def time_left(feed: Feed, info: RunInfo) -> str:
    """Minutes and seconds at the speed of the last moments, a dash before there is one."""
    speed = feed.speed()
    if speed is None or not speed[0]:
        return "–"
    return duration((info.training.steps - feed.step) / speed[0])


def curve_words(feed: Feed, baselines: Baselines | None) -> list[str]:
    """What the curves tell so far, a sentence each: phases, over-fitting, how far beyond counting."""
    said, found = [], phases(feed.losses)
    if found:
        parts = [t(PHASES[part.kind], loss=part.loss, first=part.first, last=part.last) for part in found]
        said.append(t("The batch loss: {parts}.", parts=t("; then ").join(parts)))
    over = overfitting(feed.evaluations)
    if over:
        text = "Over-fitting: since step {step} the validation loss rose from {low:.4f} to {high:.4f}, "
        text += "while the training loss fell from {before:.4f} to {after:.4f}. The best model is that of step {step}."
        best, last = over.best, over.last
        values = {"step": best.step, "low": best.validation_loss, "high": last.validation_loss}
        said.append(t(text, before=best.train_loss, after=last.train_loss, **values))
    if baselines and feed.best:
        scored = [row for row in feed.evaluations if row.validation_loss is not None]
        said.append(_beyond_counting(feed.best, scored[-1], baselines))
    return said


def _beyond_counting(best: Evaluation, last: Evaluation, baselines: Baselines) -> str:
    """How the model stands beside the counts: at its best, and now if it has become worse since."""
    then, now = (_standing(row.validation_loss, baselines) for row in (best, last))
    if best.step == last.step:
        return t("On the validation records it is {then}.", then=then)
    if then == now:
        text = "On the validation records it is {then}, at its best, step {step}, and at step {last}."
    else:
        text = "On the validation records it was at its best, step {step}, {then}; at step {last} it is {now}."
    return t(text, step=f"{best.step:,}", last=f"{last.step:,}", then=then, now=now)


def _standing(loss: float, baselines: Baselines) -> str:
    """What this loss beats of the counts, the dearest one first."""
    names = {"uniform": t("guessing"), "unigram": t("counting pieces"), "bigram": t("counting pairs")}
    names["trigram"] = t("counting triples")
    levels = sorted(names, key=lambda name: -getattr(baselines, name))
    beaten = [names[name] for name in levels if loss < getattr(baselines, name)]
    ahead = [names[name] for name in levels if loss >= getattr(baselines, name)]
    if not beaten:
        return t("not better than {ahead}", ahead=ahead[0])
    if not ahead:
        return t("better than counting pieces, pairs and triples")
    return t("better than {beaten}, not than {ahead}", beaten=beaten[-1], ahead=ahead[0])
