"""inspect | tokenize | generate | train | import | export | models: what the pages call, on the command line.

Bad input ends with one sentence on standard error and exit code 2.
"""

import argparse
import contextlib
import json
import os
import shlex
import signal
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from minigpt.sentences import Refusal
from minigpt.validation import settings_of

if TYPE_CHECKING:  # torch is loaded by the command that needs it, not by --help
    from minigpt.model.gpt import MiniGPT
    from minigpt.tokenizers.base import Tokenizer
    from minigpt.training.loop import Training
    from minigpt.training.runs.run import Run


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code."""
    options = _parser().parse_args(arguments)
    try:
        code = options.command(options) or 0
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader is gone, as in `| head -1`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (ValueError, ArithmeticError, OSError) as error:
        print(f"minigpt: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    from minigpt.cli.options import add_corpus_options
    from minigpt.generation.settings import SampleConfig, read_number

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
    generate.add_argument("--prompt", required=True, help="the text to continue; may be empty")
    for name, known in settings_of(SampleConfig).items():
        default = getattr(SampleConfig, name)
        option = "--max-new" if name == "max_new_tokens" else f"--{name.replace('_', '-')}"
        shown = (
            f"{known.help} (default: {default:g})"
            if isinstance(default, float)
            else f"{known.help} (default: {default})"
        )
        generate.add_argument(option, dest=name, type=read_number, default=default, help=shown)
    generate.set_defaults(command=_generate)

    train = commands.add_parser("train", help="train a preset on a corpus and save its checkpoints")
    train.add_argument("--preset", help="model and training settings (default: mg-1, or those of the resumed run)")
    train.add_argument("--out", required=True, help="run folder, new or with --resume")
    train.add_argument("--resume", action="store_true", help="continue where the run stopped, as if it never had")
    train.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="change training or model settings")
    add_corpus_options(train)
    train.set_defaults(command=_train)

    opening = commands.add_parser(
        "import", help="check a Hugging Face GPT-2 folder and register it, so that the app opens it by a link"
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
    from minigpt.cli.printing import preset_objects, preset_table

    objects = preset_objects()
    print(json.dumps(objects) if options.json else preset_table(objects))


def _model_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--preset", default="mg-1", help="an untrained preset (default: mg-1)")
    parser.add_argument("--run", help="a run folder, instead of the preset")
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

    result = token_object(_tokenizer(options), options.text)
    print(json.dumps(result) if options.json else token_text(result))


def _generate(options: argparse.Namespace) -> None:
    from minigpt.cli.printing import generation_object, generation_text
    from minigpt.generation.settings import SampleConfig
    from minigpt.generation.stepping import generate, prompt_ids

    settings = SampleConfig(**{name: getattr(options, name) for name in settings_of(SampleConfig)})
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
    resume = shlex.join(["python", "-m", "minigpt", "train", "--resume", "--out", options.out])
    print(f"\nstopped at step {training.step} of {training.config.steps}; to continue: {resume}", file=sys.stderr)
    return 130


def _training(options: argparse.Namespace) -> tuple["Run", "Training"]:
    """The run folder and its training, new or resumed, as the options say."""
    from minigpt.cli.options import corpus_of
    from minigpt.corpus.library import bundled_corpus
    from minigpt.presets import configured, preset
    from minigpt.training.runs.create import new_run, resume_run
    from minigpt.training.runs.run import Run as RunFolder

    corpus = corpus_of(options, lambda text: print(text, file=sys.stderr, flush=True))
    changes = _assignments(options.set)
    if not options.resume:
        chosen = configured(preset(options.preset or "mg-1"), changes)
        return new_run(options.out, chosen, corpus or bundled_corpus(), chosen.training)
    if not options.preset and not changes:
        return resume_run(options.out, None, corpus, None)
    chosen = configured(preset(options.preset or RunFolder(options.out).info.preset), changes)
    return resume_run(options.out, chosen, corpus, chosen.training)


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
def _stop_signals() -> Iterator[list[int]]:
    """A list that Ctrl-C and SIGTERM fill, so that the run ends between two steps; a second Ctrl-C ends it at once."""
    stopped: list[int] = []

    def note(number: int, _: object) -> None:
        if stopped:
            raise KeyboardInterrupt
        stopped.append(number)

    former = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def _tokenizer(options: argparse.Namespace) -> "Tokenizer":
    """The tokenizer that the options name; no weights are read for a folder or a preset."""
    from minigpt.huggingface.imports import folder_tokenizer
    from minigpt.inspection.sources import preset_tokenizer

    if options.run:
        return _load(options)[1]
    _check_source(options)
    return folder_tokenizer(options.model) if options.model else preset_tokenizer(options.preset)


def _load(options: argparse.Namespace) -> tuple["MiniGPT", "Tokenizer"]:
    """The model and tokenizer that the options name."""
    from minigpt.huggingface.imports import load_folder
    from minigpt.inspection.sources import preset_model, run_model

    _check_source(options)
    if options.model:
        return load_folder(options.model, options.dtype or "float32")
    return run_model(options.run, options.step) if options.run else preset_model(options.preset)


def _check_source(options: argparse.Namespace) -> None:
    """Raises ValueError for options of a model that do not go together."""
    if options.model and (options.run or options.step is not None):
        raise Refusal("--model names a folder, which has no steps: leave out --run and --step")
    if options.dtype and not options.model:
        raise Refusal("--dtype needs --model: a run and a preset have the dtype of their config")
    if options.step is not None and not options.run:
        raise Refusal("--step needs --run: a preset is untrained, at step 0")


def _assignments(texts: list[str]) -> dict[str, str]:
    for text in texts:
        if "=" not in text:
            raise Refusal("--set takes NAME=VALUE, got {text!r}", text=text)
    return dict(text.split("=", 1) for text in texts)
