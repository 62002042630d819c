"""Listens to one page: every fault it shows, and whether the app still has a rerun to do."""

import re

from playwright.sync_api import ConsoleMessage, Page, Request, Response, WebSocket
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from tests.browser.server import Server


class Watch:
    """Collects every fault of one page and knows whether the app still has a rerun to do.

    A fault is: a console error, an uncaught JavaScript error, a request that failed or got a status of 400
    or more, a request to another address than `server`, an exception the script showed or the server logged, an
    element sent by reference (see .streamlit/config.toml).
    """

    def __init__(self, page: Page, server: Server) -> None:
        self.server = server
        self.asked = False  # the browser sent a rerun request that no run has answered yet
        self.running = False
        self._faults: list[str] = []
        self._log_start = server.log.stat().st_size
        page.on("console", self._spoken)
        page.on("pageerror", lambda error: self._fault(f"JavaScript error: {error}"))
        page.on("request", lambda r: self._fault(f"external: {r.url}", when=not self._is_local(r.url)))
        page.on("requestfailed", self._failed)
        page.on("response", self._answered)
        page.on("websocket", self._listen)

    def faults(self) -> list[str]:
        """Return the faults so far, with the tracebacks the server has printed since this page was opened."""
        printed = self.server.printed(self._log_start)
        failed = "Traceback (most recent call last)" in printed
        return self._faults + ([f"server log:\n{printed}"] if failed else [])

    @property
    def idle(self) -> bool:
        """Whether no rerun is asked for or running."""
        return not (self.asked or self.running)

    def _fault(self, text: str, when: bool = True) -> None:
        if when:
            self._faults.append(text)

    def _spoken(self, message: ConsoleMessage) -> None:
        wrong = message.type == "error" and not self._is_probe(message.location["url"])
        self._fault(f"console error: {message.text} {message.location['url']}", when=wrong)

    def _answered(self, response: Response) -> None:
        wrong = response.status >= 400 and not self._is_probe(response.url)
        self._fault(f"status {response.status}: {response.url}", when=wrong)

    def _is_probe(self, url: str) -> bool:
        """Whether Streamlit's browser code asks where the server's root is. Opened at /stages, it asks for
        /stages/_stcore/health first, gets a 404, and goes on with /_stcore/health: no fault of the app."""
        return bool(re.fullmatch(re.escape(self.server.url) + r"/[^/?]+/_stcore/(health|host-config)", url))

    def _failed(self, request: Request) -> None:
        # A page that is left cancels what it was still loading: that is no fault of the app.
        cancelled = "ERR_ABORTED" in (request.failure or "")
        self._fault(f"failed request: {request.url} {request.failure}", when=not cancelled)

    def _is_local(self, url: str) -> bool:
        same = url.startswith((self.server.url + "/", self.server.url.replace("http", "ws", 1) + "/"))
        return same or url.startswith(("data:", "blob:", "about:"))

    def _listen(self, socket: WebSocket) -> None:
        self._fault(f"external: {socket.url}", when=not self._is_local(socket.url))
        self.running = False
        socket.on("framesent", self._sent)
        socket.on("framereceived", self._received)

    def _sent(self, payload: bytes | str) -> None:
        if isinstance(payload, bytes) and BackMsg.FromString(payload).WhichOneof("type") == "rerun_script":
            self.asked = True

    def _received(self, payload: bytes | str) -> None:
        message = ForwardMsg.FromString(payload) if isinstance(payload, bytes) else ForwardMsg()
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self.asked, self.running = False, True
        elif kind == "script_finished":
            # A script that ends early for a rerun (st.rerun, or a click meanwhile) starts again at once.
            self.running = message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN
        elif kind == "ref_hash":
            self._fault(f"element sent by reference, at {list(message.metadata.delta_path)}")
        elif kind == "delta" and message.delta.new_element.WhichOneof("type") == "exception":
            shown = message.delta.new_element.exception
            self._fault(f"exception on the page: {shown.type}: {shown.message}", when=not shown.is_warning)
