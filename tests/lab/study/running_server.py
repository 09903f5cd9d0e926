"""The application behind a real socket, in a thread; it can be stopped and started again."""

import contextlib
import socket
import threading
import time

import uvicorn

STARTS_WITHIN_S = 30


class RunningServer:
    def __init__(self, make_app) -> None:
        """`make_app(url)` gives the application to serve."""
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._app = make_app(self.url)
        self.start()

    def start(self) -> None:
        config = uvicorn.Config(
            self._app,
            host="127.0.0.1",
            port=self.port,
            log_level="error",
            access_log=False,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        until = time.monotonic() + STARTS_WITHIN_S
        while not self._server.started:
            assert time.monotonic() < until and self._thread.is_alive(), "the server did not start"
            time.sleep(0.02)

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(timeout=STARTS_WITHIN_S)

    @staticmethod
    @contextlib.contextmanager
    def serving(make_app):
        server = RunningServer(make_app)
        try:
            yield server
        finally:
            server.stop()
