"""Every sentence that a person sees is whole, passes through one function, and is found by the extraction.

`t`, `tn` and `translate` show sentences on pages; `say`, `say_count` and `Refusal` make them in the library.
"""

import ast
import io
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter
from tempfile import TemporaryDirectory

import pytest
from babel.messages.frontend import CommandLineInterface
from babel.messages.pofile import read_po

from tests.test_house import ROOT, sources

EXTRACT = "extract -F babel.cfg -k t -k tn:1,2 -k say -k say_count:1,2 -k Refusal -o locale/minigpt.pot ."
MAKERS = {"t": 1, "say": 1, "Refusal": 1, "tn": 2, "say_count": 2}  # and how many templates each takes
# What a page shows by these arguments is text. Components of our own take the same names.
SHOWN = {
    *("title", "header", "subheader", "caption", "text", "markdown", "write", "metric", "info", "warning", "error"),
    *("success", "button", "download_button", "selectbox", "number_input", "text_input", "text_area", "slider"),
    *("select_slider", "toggle", "checkbox", "radio", "segmented_control", "pills", "multiselect", "file_uploader"),
    *("expander", "popover", "spinner", "page_link", "problem", "notice", "hint", "link_button", "form_submit_button"),
}
NAMED = {
    *("label", "help", "placeholder", "alt", "caption", "note", "row_title", "column_title", "title", "hint"),
    "page_title",
}


def calls(name_of: ast.expr) -> str:
    """The last name of what is called: `caption` for `st.caption`."""
    return name_of.attr if isinstance(name_of, ast.Attribute) else getattr(name_of, "id", "")


def makers(path: str) -> Iterator[tuple[ast.Call, str, list[ast.expr]]]:
    """Every call that makes a sentence: the call, its name, its templates."""
    for node in ast.walk(sources()[path]):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MAKERS:
            yield node, node.func.id, node.args[: MAKERS[node.func.id]]


def literal(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def of_interface(path: str) -> bool:
    return path.startswith(("minigpt/ui/", "pages/")) or path == "app.py"


def passes_on(path: str, name: str) -> bool:
    """Whether this file defines what is called, and so hands templates on."""
    defined = {node.name for node in sources()[path].body if isinstance(node, ast.FunctionDef)}
    return path in ("minigpt/ui/base/text.py", "minigpt/sentences.py") or name in defined


def hands_on(call: ast.Call, name: str) -> bool:
    """Whether an error is raised with a sentence that was made elsewhere."""
    made = isinstance(call.args[0], ast.Name) or isinstance(call.args[0], ast.Call)
    return name == "Refusal" and len(call.args) == 1 and not call.keywords and made


def test_templates_are_literals():
    wrong = [
        f"{path}:{call.lineno} {ast.unparse(call)[:100]}"
        for path in sources()
        for call, name, templates in makers(path)
        if not passes_on(path, name) and not hands_on(call, name) and not all(map(literal, templates))
    ]
    assert not wrong, f"{len(wrong)} calls\n" + "\n".join(wrong)


def test_every_placeholder_is_given():
    wrong = []
    for path in sources():
        for call, name, templates in makers(path):
            if passes_on(path, name) or not all(map(literal, templates)):
                continue
            wanted = {
                re.split(r"[.\[]", field)[0]
                for template in templates
                for _, field, _, _ in Formatter().parse(ast.literal_eval(template))
                if field is not None
            }
            given = {keyword.arg for keyword in call.keywords}
            if None not in given and wanted != given and not (given - wanted == {"count"} and MAKERS[name] == 2):
                wrong.append(f"{path}:{call.lineno} wants {sorted(wanted)}, is given {sorted(given)}")
    assert not wrong, "\n" + "\n".join(wrong)


def test_values_have_names_that_a_translator_reads():
    made_up = re.compile(r"\w+\d+|value\d*|map|ord|len|repr|str")
    wrong = [
        f"{path}:{call.lineno} {keyword.arg}"
        for path in sources()
        for call, _, _ in makers(path)
        for keyword in call.keywords
        if keyword.arg and made_up.fullmatch(keyword.arg) and keyword.arg != "value"
    ]
    assert not wrong, "\n" + "\n".join(wrong)


def said_plainly(node: ast.expr) -> bool:
    """Whether an argument says words of its own: a literal with a letter, an f-string with a word, a sum of such."""
    if literal(node):
        said = re.sub(r":material/\w+:|:\w+\[|\*\*|^/[\w/-]+$|^pages/\w+\.py$|\{\w+\}", "", node.value)
        return bool(re.search(r"[A-Za-z]{2}", said))
    if isinstance(node, ast.JoinedStr):
        return any(said_plainly(part) for part in node.values if isinstance(part, ast.Constant))
    if isinstance(node, ast.BinOp):
        return said_plainly(node.left) or said_plainly(node.right)
    if isinstance(node, ast.IfExp):
        return said_plainly(node.body) or said_plainly(node.orelse)
    if isinstance(node, ast.Call) and calls(node.func) == "plain":
        return any(map(said_plainly, node.args))
    if isinstance(node, ast.Call) and calls(node.func) == "str":
        return any(isinstance(part, ast.Name) and part.id in ("error", "fault") for part in node.args)
    return False


def test_what_a_page_shows_passes_through_the_catalogue():
    """As far as the text of a file tells; the browser test with a pseudo-language sees the rest."""
    wrong = []
    for path in filter(of_interface, sources()):
        for node in ast.walk(sources()[path]):
            if not isinstance(node, ast.Call):
                continue
            name = calls(node.func)
            shown = node.args[:1] if name in SHOWN and isinstance(node.func, ast.Attribute) else []
            shown += [keyword.value for keyword in node.keywords if keyword.arg in NAMED]
            wrong += [f"{path}:{node.lineno} {ast.unparse(part)[:100]}" for part in shown if said_plainly(part)]
    assert not wrong, "\n" + "\n".join(wrong)


def test_no_sentence_is_glued():
    """No f-string or sum joins a sentence with another or with words."""
    wrong = []

    def speaks(node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MAKERS

    for path in sources():
        for node in ast.walk(sources()[path]):
            parts: list[ast.AST] = []
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
                parts = [node.left, node.right]
            elif isinstance(node, ast.JoinedStr):
                parts = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
            if any(map(speaks, parts)):
                wrong.append(f"{path}:{node.lineno} {ast.unparse(node)[:100]}")
    assert not wrong, "\n" + "\n".join(wrong)


def test_errors_of_the_library_can_be_translated():
    """A ValueError or RuntimeError with words of its own is a sentence that no catalogue can reach."""
    wrong = []
    for path in sources():
        if path.startswith("minigpt/ui/components/"):
            continue  # refuses what a page hands it, a mistake in the page's code
        for node in ast.walk(sources()[path]):
            if not (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)):
                continue
            if calls(node.exc.func) in ("ValueError", "RuntimeError") and any(map(said_plainly, node.exc.args)):
                wrong.append(f"{path}:{node.lineno} {ast.unparse(node.exc)[:100]}")
    assert not wrong, "\n" + "\n".join(wrong)


def extract() -> bytes:
    """The file that the documented command makes."""
    with TemporaryDirectory() as folder:
        pot, here = Path(folder) / "minigpt.pot", Path.cwd()
        os.chdir(ROOT)
        try:
            CommandLineInterface().run(["pybabel", "-q", *EXTRACT.replace("locale/minigpt.pot", str(pot)).split()])
        finally:
            os.chdir(here)
        return pot.read_bytes()


@cache
def extracted() -> dict[str, list[str]]:
    """The files each sentence comes from, by its template."""
    found: dict[str, list[str]] = {}
    for message in read_po(io.BytesIO(extract())):
        for template in message.id if isinstance(message.id, tuple) else [message.id]:
            found[template] = [path for path, _ in message.locations]
    return found


def test_the_documented_command_is_this_one():
    assert f"pybabel {EXTRACT}" in (ROOT / "CONTRIBUTING.md").read_text()


def test_the_extraction_finds_every_sentence():
    written = {
        template.value
        for path in sources()
        for call, name, templates in makers(path)
        if not passes_on(path, name)
        for template in templates
        if literal(template)
    }
    assert written - set(extracted()) == set()


@pytest.mark.parametrize(
    "folder",
    """app.py pages minigpt/corpus minigpt/tokenizers minigpt/model minigpt/inspection minigpt/sizing minigpt/training
    minigpt/generation minigpt/huggingface minigpt/storage minigpt/ui/base minigpt/ui/frame minigpt/ui/shared
    minigpt/ui/overview minigpt/ui/tokens minigpt/ui/stages minigpt/ui/attention minigpt/ui/logits minigpt/ui/training
    minigpt/ui/sampling minigpt/ui/corpus minigpt/ui/models""".split(),
)
def test_every_folder_has_sentences(folder: str):
    assert any(path.startswith(folder) for paths in extracted().values() for path in paths)


def test_a_template_is_a_whole_sentence_or_name():
    """Not white space, not one placeholder alone, no piece with white space at its ends."""
    templates = set(extracted()) - {""}
    assert [text for text in templates if text != text.strip() or re.fullmatch(r"\W*(\{[^}]*\}\W*)?", text)] == []
