"""Takes pictures of every page so that people can look at all of them at once.

    python tests/browser/look.py OUTDIR [--pages "" tokens ...] [--texts TEXT ...] [--set layer=1 head=0]

Each page is taken with each text, light and dark, at each width, at full height. OUTDIR gets one PNG each
and index.html, which shows them side by side. Faults (exceptions, console errors, external requests, cut
elements) are printed, and make the command end with code 1.
"""

import argparse
import html
import itertools
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from playwright.sync_api import Browser, sync_playwright

from tests.browser.driver import App, launch
from tests.browser.server import Server, serve

HOSTILE = "<img src=x onerror=alert(1)>\t$x$ **b** ![i](//e.cc/i.png)\u202eab"  # fits in 64 positions
TEXTS = ["A cat sat by the door.", "春眠不觉晓，处处闻啼鸟。", HOSTILE]


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("outdir", type=Path)
    parser.add_argument("--pages", nargs="+", help='page addresses, "" is the overview; default: all')
    parser.add_argument("--texts", nargs="+", default=TEXTS, help="values of the text parameter")
    parser.add_argument("--widths", nargs="+", type=int, default=[1440, 820])
    parser.add_argument("--schemes", nargs="+", choices=["light", "dark"], default=["light", "dark"])
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="more URL parameters")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2], help="app.py's folder")
    return parser.parse_args()


def take(browser: Browser, server: Server, file: Path, page: str, params: dict, width: int, scheme: str) -> list[str]:
    """Save one picture and return the page's faults."""
    app = App(browser, server, (width, 900), scheme)
    try:
        app.open(page, **params)
        app.show_all()
        app.page.screenshot(path=file)
        return app.watch.faults() + app.cut_off()
    except TimeoutError as error:
        app.page.screenshot(path=file)
        return [*app.watch.faults(), str(error)]
    finally:
        app.close()


def all_pages(browser: Browser, server: Server) -> list[str]:
    """Return the addresses the app's navigation shows."""
    app = App(browser, server, (1440, 900), "light")
    app.open("")
    found = app.pages()
    app.close()
    return found


def write_index(outdir: Path, names: list[str]) -> None:
    """Write the page that shows all pictures side by side."""
    figures = "".join(
        f'<a href="{html.escape(name)}.png"><figure><img src="{html.escape(name)}.png" width="480">'
        f"<figcaption>{html.escape(name)}</figcaption></figure></a>\n"
        for name in names
    )
    style = "body{display:flex;flex-wrap:wrap;align-items:start;font:14px sans-serif}figure{margin:8px}"
    (outdir / "index.html").write_text(f'<meta charset="utf-8"><style>{style}</style>\n{figures}', encoding="utf-8")


def main() -> int:
    """Take all pictures; return 1 when a page had a fault."""
    args = arguments()
    args.outdir.mkdir(parents=True, exist_ok=True)
    extra = dict(pair.split("=", 1) for pair in args.set)
    names, broken = [], False
    with (
        tempfile.TemporaryDirectory() as home,
        serve(Path(home), args.root) as server,
        sync_playwright() as playwright,
    ):
        browser = launch(playwright)
        pages = args.pages if args.pages is not None else all_pages(browser, server)
        for page, (i, text), scheme, width in itertools.product(
            pages, enumerate(args.texts), args.schemes, args.widths
        ):
            name = f"{page or 'overview'}-text{i}-{scheme}-{width}"
            faults = take(browser, server, args.outdir / f"{name}.png", page, {"text": text, **extra}, width, scheme)
            names.append(name)
            broken |= bool(faults)
            print(name, "ok" if not faults else "FAULTS\n  " + "\n  ".join(faults), flush=True)
        browser.close()
    write_index(args.outdir, names)
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
