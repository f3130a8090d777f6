import json
import threading
import unittest
from http.client import HTTPConnection

from server import make_server


class ServerTest(unittest.TestCase):
    def setUp(self):
        self.server = make_server(0)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    def ask(self, method, path, body=None):
        connection = HTTPConnection(*self.server.server_address, timeout=5)
        self.addCleanup(connection.close)
        text = body if body is None or isinstance(body, str) else json.dumps(body)
        connection.request(method, path, text)
        answer = connection.getresponse()
        data = answer.read()
        return answer.status, json.loads(data) if data else None

    def test_a_task_from_its_creation_to_its_end(self):
        self.assertEqual(self.ask("GET", "/tasks"), (200, []))
        task = {"id": 1, "title": "milk", "done": False}
        self.assertEqual(self.ask("POST", "/tasks", {"title": "milk"}), (201, task))
        self.assertEqual(self.ask("GET", "/tasks/1"), (200, task))
        self.assertEqual(self.ask("PATCH", "/tasks/1", {"done": True})[1]["done"], True)
        self.assertEqual(self.ask("DELETE", "/tasks/1"), (204, None))
        self.assertEqual(self.ask("GET", "/tasks/1")[0], 404)

    def test_what_is_no_json_is_told(self):
        status, answer = self.ask("POST", "/tasks", "{")
        self.assertEqual((status, answer), (400, {"error": "the request is not JSON"}))

    def test_what_is_no_task_is_told(self):
        self.assertEqual(self.ask("POST", "/tasks", {"title": ""})[0], 400)

    def test_other_paths_and_methods_are_told(self):
        self.assertEqual(self.ask("GET", "/people")[0], 404)
        self.assertEqual(self.ask("DELETE", "/tasks")[0], 405)


if __name__ == "__main__":
    unittest.main()
