"""python -m minigpt inspect | tokenize | generate | train | import | export | models: what the pages call.

Bad input ends with one sentence on standard error and exit code 2.
"""

import argparse
import contextlib
import json
import os
import shlex
import signal
import sys

from minigpt.sentences import Refusal


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code."""
    options = _parser().parse_args(arguments)
    try:
        code = options.command(options) or 0
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader has gone, as in `| head -1`: what is left unsaid goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (ValueError, ArithmeticError, OSError) as error:
        print(f"minigpt: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    from minigpt.cli.corpus_options import add_corpus_options

    parser = argparse.ArgumentParser(prog="python -m minigpt", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    inspect = commands.add_parser("inspect", help="every stage of one record at one position")
    _model_options(inspect)
    inspect.add_argument("--text", required=True, help="the record")
    inspect.add_argument("--position", type=int, default=0, help="input position, from 0 (default: 0, BOS)")
    inspect.set_defaults(command=_inspect)

    tokenize = commands.add_parser("tokenize", help="the ids of a text, merge by merge")
    _model_options(tokenize)
    tokenize.add_argument("--text", required=True, help="the text")
    tokenize.set_defaults(command=_tokenize)

    generate = commands.add_parser("generate", help="continue a prompt, token by token")
    _model_options(generate)
    generate.add_argument("--prompt", required=True, help="the text to go on from; may be empty")
    generate.add_argument("--temperature", type=_number, default=1.0, help="0 is greedy (default: 1)")
    generate.add_argument("--top-k", type=_number, default=0, help="keep the k best tokens; 0 is off (default)")
    generate.add_argument("--top-p", type=_number, default=1.0, help="keep this much probability; 1 is off (default)")
    generate.add_argument("--seed", type=_number, default=31415, help="of the draws (default: 31415)")
    generate.add_argument("--max-new", type=_number, default=24, help="tokens at most, EOS included (default: 24)")
    generate.add_argument("--at-context-length", default="stop", help="stop (default) or slide")
    generate.set_defaults(command=_generate)

    train = commands.add_parser("train", help="train a preset on a corpus and save its checkpoints")
    train.add_argument("--preset", help="model and training settings (default: mg-1, or those of the resumed run)")
    train.add_argument("--out", required=True, help="run folder, new or with --resume")
    train.add_argument("--resume", action="store_true", help="go on where the run stopped, as if it never had")
    train.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="change training or model settings")
    add_corpus_options(train)
    train.set_defaults(command=_train)

    opening = commands.add_parser(
        "import", help="check a Hugging Face GPT-2 folder and note it, so that the app opens it by a link"
    )
    opening.add_argument("--model", required=True, metavar="FOLDER", help="the folder; it stays where it is")
    opening.set_defaults(command=_import)

    export = commands.add_parser(
        "export", help="write a saved step of a run as a Hugging Face GPT-2 folder, which transformers reads"
    )
    export.add_argument("--run", required=True, help="a run folder")
    export.add_argument("--step", type=int, help="saved step of the run (default: its last)")
    export.add_argument("--out", required=True, help="the new folder")
    export.set_defaults(command=_export)

    models = commands.add_parser("models", help="the presets, with their parameters by component")
    models.set_defaults(command=_models)

    for command in (inspect, tokenize, generate, train, opening, export, models):
        command.add_argument("--json", action="store_true", help="print JSON instead of text")
    return parser


def _models(options: argparse.Namespace) -> None:
    from minigpt.cli.catalogue import preset_objects, preset_table

    objects = preset_objects()
    print(json.dumps(objects) if options.json else preset_table(objects))


def _model_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--preset", default="mg-1", help="an untrained preset (default: mg-1)")
    parser.add_argument("--run", help="a run folder, in place of the preset")
    parser.add_argument("--step", type=int, help="saved step of the run (default: its last)")
    parser.add_argument(
        "--model", metavar="FOLDER", help="a Hugging Face GPT-2 folder (config.json, model.safetensors, tokenizer)"
    )
    parser.add_argument("--dtype", help="of the weights of --model: float32 (default) or float64")


def _inspect(options: argparse.Namespace) -> None:
    from minigpt.cli.printing import inspection_text
    from minigpt.inspection.record import inspect_record

    model, tokenizer = _load(options)
    result = inspect_record(model, tokenizer, options.text, options.position)
    print(json.dumps(result) if options.json else inspection_text(result, tokenizer))


def _tokenize(options: argparse.Namespace) -> None:
    from minigpt.cli.printing import token_object, token_text

    _, tokenizer = _load(options, weights=False)
    result = token_object(tokenizer, options.text)
    print(json.dumps(result) if options.json else token_text(result))


def _generate(options: argparse.Namespace) -> None:
    from minigpt.cli.generation_text import generation_object, generation_text
    from minigpt.generation.settings import SampleConfig
    from minigpt.generation.stepping import generate, prompt_ids

    names = ("temperature", "top_k", "top_p", "seed", "at_context_length")
    settings = SampleConfig(**{name: getattr(options, name) for name in names}, max_new_tokens=options.max_new)
    model, tokenizer = _load(options)
    steps = list(generate(model, tokenizer, prompt_ids(tokenizer, options.prompt), settings))
    result = generation_object(tokenizer, steps)
    print(json.dumps(result) if options.json else generation_text(tokenizer, options.prompt, steps))


def _train(options: argparse.Namespace) -> int:
    from minigpt.cli.printing import evaluation_object, evaluation_text
    from minigpt.cli.progress import ProgressLine
    from minigpt.training.loop import Evaluation, StepReport

    run, training = _training(options)
    progress, terminal = ProgressLine(training.config.steps), sys.stderr.isatty()
    with _stop_signals() as stopped, contextlib.closing(run.record(training)) as reports:
        for report in reports:
            if isinstance(report, Evaluation):
                print("\r\033[K" if terminal else "", end="", file=sys.stderr, flush=True)
                print(json.dumps(evaluation_object(report)) if options.json else evaluation_text(report), flush=True)
            elif terminal and isinstance(report, StepReport) and (line := progress.line(report)):
                print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
            if stopped and not training.finished:
                break
    if training.finished:
        return 0
    go_on = shlex.join(["python", "-m", "minigpt", "train", "--resume", "--out", options.out])
    print(f"\nstopped at step {training.step} of {training.config.steps}; to go on: {go_on}", file=sys.stderr)
    return 130


def _training(options: argparse.Namespace):
    """The run folder and its training, new or resumed, as the options say."""
    from minigpt.cli.corpus_options import corpus_of
    from minigpt.corpus.library import bundled_corpus
    from minigpt.presets import configured, preset
    from minigpt.training.runs.create import new_run, resume_run
    from minigpt.training.runs.run import Run

    corpus = corpus_of(options, lambda text: print(text, file=sys.stderr, flush=True))
    changes = _assignments(options.set)
    if not options.resume:
        chosen = configured(preset(options.preset or "mg-1"), changes)
        return new_run(options.out, chosen, corpus or bundled_corpus(), chosen.training)
    chosen = preset(options.preset or Run(options.out).info.preset) if options.preset or changes else None
    chosen = configured(chosen, changes) if chosen else None
    return resume_run(options.out, chosen, corpus, chosen.training if chosen else None)


def _import(options: argparse.Namespace) -> None:
    from minigpt.cli.printing import import_object, import_text
    from minigpt.huggingface.imports import import_folder, look_into

    result = import_object(look_into(options.model), import_folder(options.model))
    print(json.dumps(result) if options.json else import_text(result))


def _export(options: argparse.Namespace) -> None:
    from minigpt.cli.printing import export_object, export_text
    from minigpt.huggingface.export import export_folder
    from minigpt.inspection.sources import run_model

    model, tokenizer = run_model(options.run, options.step)
    reason = export_folder(options.out, model, tokenizer)
    result = export_object(options.out, model) | {"note": reason}
    print(json.dumps(result) if options.json else export_text(result))


@contextlib.contextmanager
def _stop_signals():
    """A list that Ctrl-C and SIGTERM fill, so that the run ends between two steps; a second Ctrl-C ends it at once."""
    stopped: list[int] = []

    def note(number: int, _) -> None:
        if stopped:
            raise KeyboardInterrupt
        stopped.append(number)

    former = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def _load(options: argparse.Namespace, weights: bool = True):
    """The model (None without `weights`) and tokenizer that the options name."""
    from minigpt.huggingface.imports import folder_tokenizer, load_folder
    from minigpt.inspection.sources import preset_model, preset_tokenizer, run_model

    if options.model and (options.run or options.step is not None):
        raise Refusal("--model is a folder of its own, without steps: leave out --run and --step")
    if options.dtype and not options.model:
        raise Refusal("--dtype needs --model: a run and a preset have the dtype of their config")
    if options.model and not weights:
        return None, folder_tokenizer(options.model)
    if options.model:
        return load_folder(options.model, options.dtype or "float32")
    if options.run:
        return run_model(options.run, options.step)
    if options.step is not None:
        raise Refusal("--step needs --run: a preset is untrained, at step 0")
    return preset_model(options.preset) if weights else (None, preset_tokenizer(options.preset))


def _number(text: str) -> int | float | str:
    """A number if `text` is one; else the text itself, for the setting to refuse with its range."""
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    return text


def _assignments(texts: list[str]) -> dict[str, str]:
    for text in texts:
        if "=" not in text:
            raise Refusal("--set takes NAME=VALUE, got {text!r}", text=text)
    return dict(text.split("=", 1) for text in texts)


if __name__ == "__main__":
    sys.exit(main())
