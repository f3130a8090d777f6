"""A REST server for tasks: GET, POST, PATCH and DELETE on /tasks and /tasks/NUMBER."""

import argparse
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from task_store import BadTask, TaskStore, UnknownTask

MOST_BYTES = 64 * 1024


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.answer()

    def do_POST(self) -> None:
        self.answer()

    def do_PATCH(self) -> None:
        self.answer()

    def do_DELETE(self) -> None:
        self.answer()

    def answer(self) -> None:
        try:
            status, body = self.route()
        except UnknownTask as error:
            status, body = 404, {"error": error.args[0]}
        except BadTask as error:
            status, body = 400, {"error": str(error)}
        self.send(status, body)

    def route(self) -> tuple[int, object]:
        store: TaskStore = self.server.store
        parts = self.path.strip("/").split("/")
        if parts == ["tasks"]:
            if self.command == "GET":
                return 200, store.all()
            if self.command == "POST":
                return 200, store.add(self.content())
            return 405, {"error": f"{self.command} is not possible here"}
        if len(parts) == 2 and parts[0] == "tasks" and parts[1].isdigit():
            number = int(parts[1])
            if self.command == "GET":
                return 200, store.get(number)
            if self.command == "PATCH":
                return 200, store.change(number, self.content())
            if self.command == "DELETE":
                store.remove(number)
                return 204, None
            return 405, {"error": f"{self.command} is not possible here"}
        return 404, {"error": "there is nothing here"}

    def content(self) -> object:
        length = int(self.headers.get("Content-Length", 0))
        if length > MOST_BYTES:
            raise BadTask("the request is too long")
        return json.loads(self.rfile.read(length))

    def send(self, status: int, body: object) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, form: str, *args: object) -> None:
        """The server prints nothing for each request."""


def make_server(port: int) -> ThreadingHTTPServer:
    """A server on this machine; port 0 is any free one."""
    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.store = TaskStore()
    return server


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8000)
    server = make_server(parser.parse_args().port)
    print(f"listening on http://127.0.0.1:{server.server_address[1]}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main()
