"""What the training page says about runs: status, phases, courses."""

from collections.abc import Sequence

from minigpt.cli.progress import duration
from minigpt.corpus.baselines import Baselines
from minigpt.sentences import Sentence, say, say_count
from minigpt.training.loop import Evaluation
from minigpt.training.phases import Course, Phase, course, phases, rate_may_be_too_high
from minigpt.training.runs.info import RunInfo, RunStatus
from minigpt.training.runs.metrics_tail import MetricsTail
from minigpt.training.server.client import RunState
from minigpt.ui.base.text import translate


def status(state: RunState, step: int) -> str:
    """The status of the run, in a sentence."""
    done = f"{step:,}"
    sentences = {
        RunStatus.CREATED: say("Ready at step 0."),
        RunStatus.QUEUED: say("Waiting for its turn, number {place} in the queue.", place=state.place),
        RunStatus.LOADING: say("Getting ready."),
        RunStatus.RUNNING: say("Running."),
        RunStatus.PAUSED: say("Paused after step {step}.", step=done),
        RunStatus.STOPPED: say("Stopped after step {step}; it can be resumed there.", step=done),
        RunStatus.INTERRUPTED: say(
            "Interrupted: no process is training it now. It can be resumed at step {step} or a little before.",
            step=done,
        ),
        RunStatus.FINISHED: say_count("Finished after {count} step.", "Finished after {count:,} steps.", count=step),
    }
    return translate(sentences.get(state.status, ""))


def time_left(tail: MetricsTail, info: RunInfo) -> str:
    """Minutes and seconds at the speed of the last moments, a dash before there is one."""
    speed = tail.speed()
    if speed is None or not speed[0]:
        return "–"
    return duration((info.training.steps - tail.step) / speed[0])


def course_words(evaluations: Sequence[Evaluation]) -> str:
    """How the run went on new text, as its evaluations show it; "" without any."""
    found = course(evaluations)
    if found is None:
        return ""
    return translate(_course_sentence(found))


def _course_sentence(found: Course) -> Sentence:
    values = {
        "best": f"{found.best.step:,}",
        "last": f"{found.last.step:,}",
        "low": found.best.validation_loss,
        "high": found.last.validation_loss,
        "before": found.best.train_loss,
        "after": found.last.train_loss,
    }
    match found.kind:
        case "broken":
            return say("A loss of step {last} is not a finite number.", **values)
        case "unvalidated":
            return say("There are no validation texts, so the curve cannot show how it does on new text.")
        case "single":
            return say("Only one validation loss so far: {high:.4f} nats at step {last}.", **values)
        case "flat":
            return say(
                "The validation loss has hardly changed: its lowest is {low:.4f} nats at step {best}; "
                "at step {last} it is {high:.4f}.",
                **values,
            )
        case "improving":
            return say(
                "It is still improving: the last validation loss, {low:.4f} nats at step {best}, is the lowest so far. "
                "More steps may help.",
                **values,
            )
        case "memorizing" if found.best.step == 0:
            return say(
                "It only memorizes: on new text the untrained model was better (over-fitting). "
                "The validation loss rose from {low:.4f} to {high:.4f} nats by step {last}, while the training loss "
                "fell from {before:.4f} to {after:.4f}.",
                **values,
            )
        case "memorizing":
            return say(
                "From step {best} on it only memorizes: its guesses on new text get worse (over-fitting). "
                "The validation loss rose from {low:.4f} to {high:.4f} nats by step {last}, while the training loss "
                "fell from {before:.4f} to {after:.4f}. The best model is that of step {best}.",
                **values,
            )
        case "worse" if found.best.step == 0:
            return say(
                "Training made it worse: the validation loss rose from {low:.4f} nats before training to {high:.4f} "
                "at step {last}. The training loss went from {before:.4f} to {after:.4f}, so it is not memorizing.",
                **values,
            )
        case "worse":
            return say(
                "It got worse: the validation loss rose from {low:.4f} nats at step {best} to {high:.4f} at step "
                "{last}. The training loss went from {before:.4f} to {after:.4f}, so it is not memorizing.",
                **values,
            )
    return say(
        "The lowest validation loss is {low:.4f} nats at step {best}; at step {last} it is {high:.4f}.", **values
    )


def phase_words(losses: Sequence[float], rates: Sequence[float]) -> str:
    """The phases of the batch loss, a sentence each; "" while nothing can be named."""
    named = [_phase_sentence(phase, rate_may_be_too_high(phase, rates)) for phase in phases(losses)]
    return " ".join(map(translate, named))


def _phase_sentence(phase: Phase, rate_too_high: bool) -> Sentence:
    values = {"first": f"{phase.first:,}", "last": f"{phase.last:,}", "start": phase.start, "loss": phase.loss}
    match phase.kind:
        case "fast":
            return say(
                "The batch loss falls fast to {loss:.2f} until step {last} "
                "(which pieces are frequent, what often follows what).",
                **values,
            )
        case "slow":
            return say("The batch loss falls more slowly to {loss:.2f} until step {last} (longer patterns).", **values)
        case "plateau":
            return say("The batch loss stays near {loss:.2f} from step {first} on (a plateau).", **values)
        case "rise" if rate_too_high:
            return say(
                "The batch loss got worse, from {start:.2f} to {loss:.2f}: the learning rate may be too high.", **values
            )
        case "rise":
            return say("The batch loss got worse, from {start:.2f} to {loss:.2f}.", **values)
        case "unsteady":
            return say("The batch loss is unsteady between {start:.2f} and {loss:.2f} from step {first} on.", **values)
        case "broken":
            return say("The batch loss is not a finite number from step {first} on.", **values)
    return say("The batch loss has changed little so far, from {start:.2f} at first to {loss:.2f} now.", **values)


def curve_words(tail: MetricsTail, baselines: Baselines | None) -> list[str]:
    """What the curves show so far: phases, the course on new text, how far beyond counting."""
    said = [phase_words(tail.losses, tail.rates), course_words(tail.evaluations)]
    found = course(tail.evaluations)
    if baselines and found and found.kind not in ("unvalidated", "broken"):
        said.append(counting_words(found.best, found.last, baselines))
    return [text for text in said if text]


def counting_words(best: Evaluation, last: Evaluation, baselines: Baselines) -> str:
    """How the model compares with the counts on new text: at its best, and now if it has become worse since."""
    then, now = _compared(best, baselines), _compared(last, baselines)
    if best.step == last.step:
        return translate(_on_new_text(*then))
    if then == now:
        return translate(_at_both_steps(*then, best.step, last.step))
    return f"{translate(_at_step(*then, best.step))} {translate(_at_step(*now, last.step))}"


def _compared(row: Evaluation, baselines: Baselines) -> tuple[Sentence | None, Sentence | None]:
    """The best of the counts that a loss beats, and the next one, which it does not beat; None if there is none."""
    assert row.validation_loss is not None
    names = {
        "uniform": say("blind guessing"),
        "unigram": say("guessing by frequency (unigram)"),
        "bigram": say("guessing from the last piece (bigram)"),
        "trigram": say("guessing from the last two pieces (trigram)"),
    }
    levels = sorted(names, key=lambda name: -getattr(baselines, name))
    beaten = [names[name] for name in levels if row.validation_loss < getattr(baselines, name)]
    ahead = [names[name] for name in levels if row.validation_loss >= getattr(baselines, name)]
    return beaten[-1] if beaten else None, ahead[0] if ahead else None


def _on_new_text(beaten: Sentence | None, ahead: Sentence | None) -> Sentence:
    if beaten is None:
        return say("On new text it does not beat {ahead}.", ahead=ahead)
    if ahead is None:
        return say("On new text it beats blind guessing and all three counts: unigram, bigram and trigram.")
    return say("On new text it beats {beaten} but not {ahead}.", beaten=beaten, ahead=ahead)


def _at_both_steps(beaten: Sentence | None, ahead: Sentence | None, best: int, last: int) -> Sentence:
    values = {"beaten": beaten, "ahead": ahead, "best": best, "last": last}
    if beaten is None:
        return say(
            "On new text it does not beat {ahead}, both at its best, step {best:,}, and at step {last:,}.", **values
        )
    if ahead is None:
        return say(
            "On new text it beats blind guessing and all three counts, both at its best, step {best:,}, "
            "and at step {last:,}.",
            **values,
        )
    return say(
        "On new text it beats {beaten} but not {ahead}, both at its best, step {best:,}, and at step {last:,}.",
        **values,
    )


def _at_step(beaten: Sentence | None, ahead: Sentence | None, step: int) -> Sentence:
    values = {"beaten": beaten, "ahead": ahead, "step": step}
    if beaten is None:
        return say("On new text, at step {step:,}, it does not beat {ahead}.", **values)
    if ahead is None:
        return say("On new text, at step {step:,}, it beats blind guessing and all three counts.", **values)
    return say("On new text, at step {step:,}, it beats {beaten} but not {ahead}.", **values)
