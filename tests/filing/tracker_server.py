"""Stands in for an issue tracker: real HTTP on a loopback port, state in memory.

What is special about real ones is here too: lists come in pages, a search index lags behind until
update_index() is called, rates are limited and connections break on cue.
"""
import datetime
import http.server
import json
import re
import socket
import threading
import time
import urllib.parse

from openapi import Invalid


class Cue:
    """Something that goes wrong once, with the next request that matches.

    `what`: a status code, or one of "drop" (the connection breaks before the request is carried
    out), "lose" (after it), "hang" (no answer), "late" (carried out after the client has given up),
    "garbage", or a function that is called with the server before anything happens.
    """

    def __init__(self, method, pattern, what, headers=None, body=None, times=1):
        self.method, self.pattern, self.what = method, re.compile(pattern), what
        self.headers, self.body, self.times = headers or {}, body, times


class Tracker:
    """Base of the three: state, cues, and what was asked."""

    api = ""  # path below which the API lives

    def __init__(self, token="secret-token-0123456789", checker=None):
        self.token, self.checker = token, checker
        self.issues, self.indexed, self.cues = [], set(), []
        self.requests, self.problems = [], []
        self.labels, self.busy = {}, 0
        self.lock = threading.RLock()
        self.ended = threading.Event()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}{self.api}"

    def handler(tracker):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def any_method(self):
                length = int(self.headers.get("Content-Length") or 0)
                tracker.serve(self, self.rfile.read(length))

            do_GET = do_POST = do_PATCH = do_PUT = any_method

        return Handler

    def serve(self, request, raw):
        with self.lock:
            self.busy += 1
        try:
            self.serve_one(request, raw)
        finally:
            with self.lock:
                self.busy -= 1

    def settle(self):
        """Waits until nothing is being carried out any more."""
        while self.busy > 0:
            time.sleep(0.01)

    def serve_one(self, request, raw):
        with self.lock:
            self.requests.append((request.command, request.path, dict(request.headers), raw))
            cue = next((cue for cue in self.cues if cue.times > 0 and cue.method == request.command
                        and cue.pattern.search(request.path)), None)
            if cue is not None:
                cue.times -= 1
        if cue is None:
            return self.answer(request, *self.carry_out(request, raw))
        if callable(cue.what):
            cue.what(self)
            return self.answer(request, *self.carry_out(request, raw))
        if cue.what == "drop":
            return self.hang_up(request)
        if cue.what == "lose":
            self.carry_out(request, raw)
            return self.hang_up(request)
        if cue.what == "hang":
            self.ended.wait(30)
            return self.hang_up(request)
        if cue.what == "late":
            time.sleep(1.6)
            self.carry_out(request, raw)
            return self.hang_up(request)
        if cue.what == "garbage":
            return self.answer(request, 200, "<html>hello</html>", {}, False)
        return self.answer(request, cue.what, cue.body or {"message": "on cue"}, cue.headers, False)

    @staticmethod
    def hang_up(request):
        request.close_connection = True
        try:
            request.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # the other end was first

    def carry_out(self, request, raw):
        body = None
        if raw:
            try:
                body = json.loads(raw.decode("utf-8"))
            except ValueError as error:
                self.problems.append(f"{request.command} {request.path}: {error}")
        if not self.authorised(request.headers):
            return 401, self.refusal("Bad credentials"), {}, False
        if self.checker is not None:
            try:
                self.checker.check_request(request.command, request.path, body)
            except Invalid as error:
                self.problems.append(str(error))
                return 422, self.refusal(str(error)), {}, False
        url = urllib.parse.urlsplit(request.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        with self.lock:
            status, answer, headers = self.route(request.command, url.path[len(self.api):], query,
                                                 body)
        return status, answer, headers, True

    def answer(self, request, status, body, headers, checked):
        if self.checker is not None and checked:
            try:
                self.checker.check_answer(request.command, urllib.parse.urlsplit(request.path).path,
                                          status, body)
            except Invalid as error:
                self.problems.append(str(error))
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        try:
            request.send_response(status)
            request.send_header("Content-Type", "application/json; charset=utf-8")
            request.send_header("Content-Length", str(len(data)))
            for name, value in headers.items():
                request.send_header(name, value)
            request.end_headers()
            request.wfile.write(data)
        except OSError:
            pass  # the client has ended

    def paged(self, items, query, size_name, most):
        size = min(int(query.get(size_name, 30)), most)
        page = int(query.get("page", 1))
        part = items[(page - 1) * size:page * size]
        more = len(items) > page * size
        return part, {"Link": f'<{self.url}/x?page={page + 1}>; rel="next"'} if more else {}

    # What tests look at and do.
    def update_index(self):
        self.indexed = {issue["number"] for issue in self.issues}

    def ours(self):
        return [issue for issue in self.issues if "difffuzz-bucket-" in issue["text"]]

    def add(self, title, text, **more):
        issue = {"number": len(self.issues) + 1, "title": title, "text": text, "state": "open",
                 "reason": None, "created": time.time(), "changed": time.time(), "labels": [],
                 "comments": [], "pull": False, **more}
        self.issues.append(issue)
        return issue

    def number(self, number):
        there = 0 < int(number) <= len(self.issues) and "deleted" not in self.issues[int(number) - 1]
        return self.issues[int(number) - 1] if there else None

    def changed_since(self, text):
        since = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(
            tzinfo=datetime.timezone.utc).timestamp()
        found = [issue for issue in self.issues
                 if issue["changed"] >= since and "deleted" not in issue]
        return sorted(found, key=lambda issue: -issue["created"])

    @staticmethod
    def time_text(seconds):
        return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime(
            "%Y-%m-%dT%H:%M:%SZ")


class GitHub(Tracker):
    kind = "github"
    repo = "some/tool"

    def authorised(self, headers):
        return headers.get("Authorization") == f"Bearer {self.token}"

    @staticmethod
    def refusal(message):
        return {"message": message, "documentation_url": "https://docs.github.com/rest"}

    def shown(self, issue):
        shown = self.checker.example("issue")
        shown.update(number=issue["number"], title=issue["title"], body=issue["text"],
                     state=issue["state"], state_reason=issue["reason"],
                     created_at=self.time_text(issue["created"]),
                     updated_at=self.time_text(issue["changed"]),
                     html_url=f"https://github.com/{self.repo}/issues/{issue['number']}",
                     labels=[{"name": label} for label in issue["labels"]])
        shown.pop("pull_request", None)
        if issue["pull"]:
            shown["pull_request"] = self.checker.example("issue")["pull_request"]
        return shown

    def comment(self, text):
        shown = self.checker.example("issue-comment")
        shown["body"] = text
        return shown

    def route(self, method, path, query, body):
        issues = f"/repos/{self.repo}/issues"
        if path == "/search/issues":
            word = re.fullmatch(rf'"([^"]+)" in:body is:issue repo:{self.repo}', query["q"])
            found = [] if word is None else [
                {**self.shown(issue), "score": 1.0} for issue in self.issues
                if issue["number"] in self.indexed and word[1] in issue["text"] and not issue["pull"]]
            for item in found:
                item.pop("closed_by", None)
            part, headers = self.paged(found, query, "per_page", 100)
            return 200, {"total_count": len(found), "incomplete_results": False, "search_type": "lexical",
                         "items": part}, headers
        if not path.startswith(issues):
            return 404, self.refusal("Not Found"), {}
        if path == issues and method == "GET":
            part, headers = self.paged([self.shown(issue) for issue in
                                        self.changed_since(query["since"])], query, "per_page", 100)
            return 200, part, headers
        if path == issues and method == "POST":
            issue = self.add(body["title"], body["body"], labels=body.get("labels", []))
            return 201, self.shown(issue), {}
        number, _, rest = path[len(issues) + 1:].partition("/")
        issue = self.number(number)
        if issue is None:
            return 404, self.refusal("Not Found"), {}
        if rest == "comments" and method == "GET":
            part, headers = self.paged([self.comment(text) for text in issue["comments"]], query,
                                       "per_page", 100)
            return 200, part, headers
        issue["changed"] = time.time()
        if rest == "comments":
            issue["comments"].append(body["body"])
            return 201, self.comment(body["body"]), {}
        if method == "PATCH":
            issue.update(state=body["state"], reason=body.get("state_reason"))
        return 200, self.shown(issue), {}


class GitLab(Tracker):
    kind = "gitlab"
    api = "/api/v4"
    repo = "group/sub/tool"

    def authorised(self, headers):
        return headers.get("PRIVATE-TOKEN") == self.token

    @staticmethod
    def refusal(message):
        return {"message": message}

    def shown(self, issue):
        return {"id": 1000 + issue["number"], "iid": issue["number"], "title": issue["title"],
                "description": issue["text"], "labels": issue["labels"],
                "state": "opened" if issue["state"] == "open" else "closed",
                "created_at": self.time_text(issue["created"])[:-1] + ".123Z",
                "web_url": f"https://gitlab.com/{self.repo}/-/issues/{issue['number']}"}

    def route(self, method, path, query, body):
        issues = "/projects/" + urllib.parse.quote(self.repo, safe="") + "/issues"
        if not path.startswith(issues):
            return 404, self.refusal("404 Project Not Found"), {}
        if path == issues and method == "GET":
            found = self.changed_since(query["updated_after"]) if "updated_after" in query else [
                issue for issue in self.issues
                if issue["number"] in self.indexed and query["search"] in issue["text"]]
            part, headers = self.paged([self.shown(issue) for issue in found], query, "per_page", 100)
            return 200, part, headers
        if path == issues:
            return 201, self.shown(self.add(body["title"], body["description"],
                                            labels=body["labels"].split(","))), {}
        number, _, rest = path[len(issues) + 1:].partition("/")
        issue = self.number(number)
        if issue is None:
            return 404, self.refusal("404 Not found"), {}
        if rest == "notes" and method == "GET":
            part, headers = self.paged([{"body": text} for text in issue["comments"]], query,
                                       "per_page", 100)
            return 200, part, headers
        issue["changed"] = time.time()
        if rest == "notes":
            issue["comments"].append(body["body"])
            return 201, {"body": body["body"]}, {}
        if method == "PUT" and body.get("state_event") == "reopen":
            issue["state"] = "open"
        return 200, self.shown(issue), {}


class Gitea(Tracker):
    kind = "gitea"
    api = "/api/v1"
    repo = "some/tool"

    def authorised(self, headers):
        return headers.get("Authorization") == f"token {self.token}"

    @staticmethod
    def refusal(message):
        return {"message": message}

    def shown(self, issue):
        created = datetime.datetime.fromtimestamp(
            issue["created"], datetime.timezone(datetime.timedelta(hours=2)))
        return {"number": issue["number"], "title": issue["title"], "body": issue["text"],
                "state": issue["state"], "created_at": created.isoformat(timespec="seconds"),
                "html_url": f"https://codeberg.org/{self.repo}/issues/{issue['number']}",
                "labels": [{"name": name, "id": number} for name, number in self.labels.items()
                           if number in issue["labels"]],
                "pull_request": {} if issue["pull"] else None}

    def route(self, method, path, query, body):
        issues = f"/repos/{self.repo}/issues"
        most = 20  # this instance gives smaller pages than asked for
        if path == f"/repos/{self.repo}/labels":
            if method == "POST":
                self.labels[body["name"]] = 70 + len(self.labels)
                return 201, {"name": body["name"], "id": self.labels[body["name"]]}, {}
            part, headers = self.paged([{"name": name, "id": number}
                                        for name, number in self.labels.items()], query, "limit", most)
            return 200, part, headers
        if not path.startswith(issues):
            return 404, self.refusal("not found"), {}
        if path == issues and method == "GET":
            found = self.changed_since(query["since"]) if "since" in query else [
                issue for issue in self.issues
                if issue["number"] in self.indexed and query["q"] in issue["text"]]
            part, headers = self.paged([self.shown(issue) for issue in found], query, "limit", most)
            return 200, part, headers
        if path == issues:
            return 201, self.shown(self.add(body["title"], body["body"], labels=body["labels"])), {}
        number, _, rest = path[len(issues) + 1:].partition("/")
        issue = self.number(number)
        if issue is None:
            return 404, self.refusal("not found"), {}
        if rest == "comments" and method == "GET":
            part, headers = self.paged([{"body": text} for text in issue["comments"]], query,
                                       "limit", most)
            return 200, part, headers
        issue["changed"] = time.time()
        if rest == "comments":
            issue["comments"].append(body["body"])
            return 201, {"body": body["body"]}, {}
        if method == "PATCH":
            issue["state"] = body["state"]
        return 200, self.shown(issue), {}
