"""What the training page says about runs: titles, states, phases."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from minigpt.cli.progress import duration
from minigpt.config import ModelConfig, to_dict
from minigpt.corpus.baselines import Baselines
from minigpt.inspection.sources import BUNDLED
from minigpt.presets import PRESETS, changed_words
from minigpt.training.loop import Evaluation
from minigpt.training.phases import course, phases, rate_may_be_too_high
from minigpt.training.runs.info import RunInfo, read_info
from minigpt.training.runs.library import RUNS, run_folder
from minigpt.training.runs.metrics_tail import Feed
from minigpt.ui.base.text import t
from minigpt.ui.shared.trainer import State

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
    "rise": "it got worse, from {start:.2f} to {loss:.2f}",
    "unsteady": "unsteady between {start:.2f} and {loss:.2f} from step {first} on",
    "flat": "little change so far, {start:.2f} at first and {loss:.2f} now",
    "broken": "not a finite number from step {first} on",
}
RATE_PHASE = "it got worse, from {start:.2f} to {loss:.2f}: the learning rate may be too high"
COURSES = {
    "broken": "A loss of step {last} is not a finite number.",
    "unvalidated": "There are no validation texts, so the curve cannot tell how it does on new text.",
    "single": "Only one validation loss so far: {high:.4f} nats at step {last}.",
    "flat": "The validation loss has hardly changed: its lowest is {low:.4f} nats at step {best}; "
    "at step {last} it is {high:.4f}.",
    "improving": "It is still improving: the last validation loss, {low:.4f} nats at step {best}, is the lowest "
    "so far. More steps may help.",
    "memorizing": "From step {best} on it only memorizes: its guesses on new text get worse (over-fitting). "
    "The validation loss rose from {low:.4f} to {high:.4f} nats by step {last}, while the training loss fell "
    "from {before:.4f} to {after:.4f}. The best model is that of step {best}.",
    "worse": "It got worse: the validation loss rose from {low:.4f} nats at step {best} to {high:.4f} at step {last}. "
    "The training loss went from {before:.4f} to {after:.4f}, so it is not memorizing.",
    "open": "The lowest validation loss is {low:.4f} nats at step {best}; at step {last} it is {high:.4f}.",
}
UNTRAINED_BEST = {  # where no step is better than step 0
    "memorizing": "It only memorizes: on new text the untrained model was better (over-fitting). "
    "The validation loss rose from {low:.4f} to {high:.4f} nats by step {last}, while the training loss fell "
    "from {before:.4f} to {after:.4f}.",
    "worse": "Training made it worse: the validation loss rose from {low:.4f} nats before training to {high:.4f} "
    "at step {last}. The training loss went from {before:.4f} to {after:.4f}, so it is not memorizing.",
}


def run_title(id: str) -> str:
    """How a run is called: its name if it has one, its settings, and the end of its id."""
    try:
        return _title(run_folder(id))
    except ValueError:
        return t("deleted run {id}", id=id[-4:])


@lru_cache(maxsize=1024)  # nothing of it changes while the run is there, and a deleted one keeps its name
def _title(folder: Path) -> str:
    info, label = read_info(folder), RUNS.label(folder.name)
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


def course_words(evaluations: Sequence[Evaluation]) -> str:
    """How the run went on new text, as its evaluations show it; "" without any."""
    found = course(evaluations)
    if found is None:
        return ""
    best, last = found.best, found.last
    text = (best.step == 0 and UNTRAINED_BEST.get(found.kind)) or COURSES[found.kind]
    values = {"low": best.validation_loss, "high": last.validation_loss}
    values |= {"before": best.train_loss, "after": last.train_loss}
    return t(text, best=f"{best.step:,}", last=f"{last.step:,}", **values)


def phase_words(losses: Sequence[float], rates: Sequence[float]) -> str:
    """The phases of the batch loss in one sentence; "" while nothing can be named."""
    parts = []
    for part in phases(losses):
        text = RATE_PHASE if rate_may_be_too_high(part, rates) else PHASES[part.kind]
        values = {"first": f"{part.first:,}", "last": f"{part.last:,}"}
        parts.append(t(text, start=part.start, loss=part.loss, **values))
    return t("The batch loss: {parts}.", parts=t("; then ").join(parts)) if parts else ""


def curve_words(feed: Feed, baselines: Baselines | None) -> list[str]:
    """What the curves tell so far, a sentence each: phases, the course on new text, how far beyond counting."""
    said = [phase_words(feed.losses, feed.rates), course_words(feed.evaluations)]
    found = course(feed.evaluations)
    if baselines and found and found.kind not in ("unvalidated", "broken"):
        said.append(counting_words(found.best, found.last, baselines))
    return [sentence for sentence in said if sentence]


def counting_words(best: Evaluation, last: Evaluation, baselines: Baselines) -> str:
    """How the model stands beside the counts: at its best, and now if it has become worse since."""
    then, now = (_standing(row.validation_loss, baselines) for row in (best, last))
    if best.step == last.step:
        return t("On new text it {then}.", then=then)
    if then == now:
        text = "On new text it {then}, both at its best, step {best}, and at step {last}."
    else:
        text = "On new text it {then} at its best, step {best}; at step {last} it {now}."
    return t(text, best=f"{best.step:,}", last=f"{last.step:,}", then=then, now=now)


def _standing(loss: float, baselines: Baselines) -> str:
    """What this loss beats of the counts, the dearest one first."""
    names = {"uniform": t("blind guessing"), "unigram": t("guessing by frequency (unigram)")}
    names["bigram"] = t("guessing from the last piece (bigram)")
    names["trigram"] = t("guessing from the last two pieces (trigram)")
    levels = sorted(names, key=lambda name: -getattr(baselines, name))
    beaten = [names[name] for name in levels if loss < getattr(baselines, name)]
    ahead = [names[name] for name in levels if loss >= getattr(baselines, name)]
    if not beaten:
        return t("does not beat {ahead}", ahead=ahead[0])
    if not ahead:
        return t("beats blind guessing and all three counts: unigram, bigram and trigram")
    return t("beats {beaten} but not {ahead}", beaten=beaten[-1], ahead=ahead[0])
