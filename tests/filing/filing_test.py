#!/usr/bin/python3
"""Filing against a tracker over real HTTP: what is sent, once, and what becomes of refusals."""
import http.server
import json
import os
import pathlib
import re
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import evidence
from openapi import Invalid, OpenApi
from evidence import Evidence, TOKEN, buckets_of, difffuzz
from tracker_server import Cue, GitHub

CHECKER = OpenApi(evidence.published("api.github.com.json"))
FEW = 3


class GitHubTest(unittest.TestCase):
    def setUp(self):
        self.tracker = self.enterContext(GitHub(checker=CHECKER))
        self.kept = self.enterContext(Evidence(FEW))

    def enterContext(self, context):  # unittest has it from Python 3.11 on
        value = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return value

    def tearDown(self):
        self.assertEqual(self.tracker.problems, [])

    def file(self, *more, **options):
        return self.kept.file(self.tracker, *more, **options)

    def expect_sentence(self, words, *more, code=7, **options):
        ended, out, err = self.file(*more, **options)
        self.assertEqual(ended, code, out + err)
        self.assertIn(words, out + err)
        self.assertNotIn(TOKEN, out + err)
        self.assertNotIn("a fault of difffuzz", out + err)
        return out

    def test_the_checker_can_refuse(self):
        for body in ({"body": "no title"}, {"title": ["x"]}, None):
            with self.assertRaises(Invalid):
                CHECKER.check_request("POST", "/repos/some/tool/issues", body)
        with self.assertRaises(Invalid):
            CHECKER.check_request("GET", "/search/issues?word=x", None)
        with self.assertRaises(Invalid):
            CHECKER.check_answer("POST", "/repos/some/tool/issues", 201, {"number": 1})

    def test_one_issue_a_bucket_however_often(self):
        code, out, err = self.file()
        self.assertEqual(code, 0, out + err)
        self.assertEqual(buckets_of(self.tracker), self.kept.fingerprints())
        self.assertTrue(all(issue["labels"] == ["security-audit"] for issue in self.tracker.issues))
        remembered = json.loads((self.kept.path / "filed.json").read_text())
        self.assertEqual(len(next(iter(remembered["issues"].values()))), FEW)
        # Again, with what the evidence remembers; then without, before the index knows; then after.
        for _ in range(3):
            code, out, err = self.file()
            self.assertEqual((code, len(self.tracker.issues)), (0, FEW), out + err)
            self.assertEqual(out.count("nothing new"), FEW)
            (self.kept.path / "filed.json").unlink()
        self.tracker.update_index()
        for issue in self.tracker.issues:  # as if filed and changed long ago
            issue["created"] = issue["changed"] = 1e9
        code, out, err = self.file()
        self.assertEqual((code, len(self.tracker.issues)), (0, FEW), out + err)
        self.assertEqual([issue["comments"] for issue in self.tracker.issues], [[]] * FEW)

    def test_a_dry_run_prints_what_would_be_sent(self):
        code, out, err = self.file("--dry-run", token=None)
        self.assertEqual(code, 0, err)
        self.assertEqual(self.tracker.requests, [])
        self.assertEqual(self.file()[0], 0)
        sent = [raw.decode() for method, path, _, raw in self.tracker.requests if method == "POST"]
        self.assertEqual(len(sent), FEW)
        for body in sent:
            self.assertIn(f"POST {self.tracker.url}/repos/some/tool/issues\n{body}\n", out)

    def test_repro_takes_the_text_of_an_issue(self):
        self.assertEqual(self.file()[0], 0)
        with tempfile.TemporaryDirectory() as scratch:
            text = pathlib.Path(scratch) / "issue.md"
            for issue in self.tracker.issues:
                for saved in (issue["text"], issue["text"].replace("\n", "\r\n"),
                              json.dumps({"body": issue["text"]})):
                    text.write_text(saved, newline="")
                    code, out, err = difffuzz("repro", text, *evidence.TOOLS)
                    self.assertEqual(code, 0, out + err)
                    self.assertIn("reproduces: ", out)
            code, out, err = difffuzz("repro", text, "--subject", evidence.REFERENCE)
            self.assertEqual(code, 1, out + err)

    def test_what_is_gone_is_not_filed(self):
        code, out, err = self.kept.file(self.tracker, "--subject", evidence.REFERENCE)
        self.assertEqual(code, 0, out + err)
        self.assertEqual(out.count("not filed: gone"), FEW)
        self.assertEqual(self.tracker.requests, [])

    def test_known_flaky_and_harness_are_never_filed(self):
        statuses = iter(("known(K1)", "flaky", "harness"))
        for record in sorted(self.kept.path.glob("records/*/*/record.json"))[:FEW]:
            content = json.loads(record.read_text())
            content["status"] = next(statuses)
            record.write_text(json.dumps(content))
        code, out, err = self.file()
        self.assertEqual(code, 0, out + err)
        self.assertEqual(self.tracker.requests, [])

    def test_news_is_a_comment_and_no_news_is_none(self):
        self.assertEqual(self.file()[0], 0)
        first = self.tracker.issues[0]
        first["text"] = re.sub("difffuzz-seen-[0-9a-f]{12}`$", "difffuzz-seen-000000000000`",
                               first["text"], flags=re.M)
        code, out, _ = self.file()
        self.assertEqual((code, out.count("commented")), (0, 1), out)
        code, out, _ = self.file()
        self.assertEqual((code, out.count("nothing new")), (0, FEW), out)
        self.assertEqual([len(issue["comments"]) for issue in self.tracker.issues], [1, 0, 0])

    def test_closed_ones_are_reopened_replaced_or_left(self):
        self.assertEqual(self.file()[0], 0)
        done, declined = self.tracker.issues[0], self.tracker.issues[1]
        done.update(state="closed", reason="completed")
        declined.update(state="closed", reason="not_planned")
        code, out, _ = self.file("--on-closed", "new")
        self.assertEqual(code, 0, out)
        self.assertEqual(len(self.tracker.issues), FEW + 1)
        self.assertIn(f"Earlier: #{done['number']}\n", self.tracker.issues[-1]["text"])
        self.assertEqual((done["state"], declined["state"]), ("closed", "closed"))
        self.tracker.issues[-1].update(state="closed", reason="completed")
        code, out, _ = self.file()
        self.assertEqual((code, out.count("reopened"), out.count("left closed")), (0, 1, 1), out)
        self.assertEqual(self.tracker.issues[-1]["state"], "open")
        self.assertEqual(len(self.tracker.issues), FEW + 1)

    def test_an_issue_that_is_gone_is_filed_anew(self):
        self.assertEqual(self.file()[0], 0)
        self.tracker.issues[0]["text"] = "something else now"
        (self.tracker.issues[1])["deleted"] = True
        code, out, err = self.file()
        self.assertEqual((code, out.count("filed as #")), (0, 2), out + err)

    def test_the_cap_holds_for_a_run_and_for_a_day(self):
        code, out, _ = self.file("--max-issues", 2)
        self.assertEqual((code, len(self.tracker.issues)), (7, 2), out)
        self.assertIn("not filed, --max-issues", out)
        code, out, _ = self.file("--max-issues", 2)
        self.assertEqual((code, len(self.tracker.issues)), (7, 2), out)
        for issue in self.tracker.issues:
            issue["created"] -= 90_000
        code, out, _ = self.file("--max-issues", 2)
        self.assertEqual((code, len(self.tracker.issues)), (0, FEW), out)

    def test_refusals_are_sentences(self):
        self.expect_sentence("does not accept the token (401: Bad credentials)", token="wrong")
        self.tracker.cues.append(Cue("GET", "issues", 403, body={"message": "Resource not accessible"}))
        self.expect_sentence("forbids it (403: Resource not accessible)")
        self.expect_sentence("has no repository 'some/other'", "--repo", "some/other")
        self.tracker.cues.append(Cue("POST", "issues$", 422, body={"message": "Validation Failed"}))
        out = self.expect_sentence("does not take the issue (422: Validation Failed)")
        self.assertEqual(out.count("filed as #"), FEW - 1)
        self.tracker.cues.append(Cue("GET", "issues", 302,
                                     headers={"Location": "http://localhost:1/elsewhere"}))
        self.expect_sentence("redirect (302) to 'http://localhost:1/elsewhere'")
        self.tracker.cues.append(Cue("GET", "issues", "garbage"))
        self.expect_sentence("something that is not JSON")
        self.tracker.cues.append(Cue("GET", "search", 200, times=9, body={
            "total_count": 0, "incomplete_results": True, "items": []}))
        for issue in self.tracker.issues:
            issue["created"] = issue["changed"] = 1e9
        (self.kept.path / "filed.json").unlink()
        self.expect_sentence("search ran out of time")
        self.tracker.cues.clear()
        self.assertEqual(len(self.tracker.issues), FEW - 1)
        self.tracker.cues.append(Cue("GET", "issues", 429, headers={"Retry-After": "4000"}))
        self.expect_sentence("limits the rate of requests until")

    def test_bad_words_are_sentences_before_anything_runs(self):
        for words, sentence in ((["--repo", "nonsense"], "--repo takes OWNER/NAME"),
                                (["--repo", "a/../b"], "--repo takes OWNER/NAME"),
                                (["--tracker", "githib"], "did you mean"),
                                (["--on-closed", "maybe"], "--on-closed takes reopen or new"),
                                (["--label", "a,b"], "--label takes a name"),
                                (["--api-url", "http://example.org"], "is not https"),
                                (["--api-url", "https://u:p@example.org"], "no password"),
                                (["--api-url", "nonsense://"], "--api-url")):
            self.expect_sentence(sentence, *words, code=2)
        self.expect_sentence("no token", code=2, token=None)
        for token, sentence in (("two words", "it must be one word"), ("a\nb", "a line break"),
                                ("\n\nb", "a line break"), ("a" * 5000, "longer than")):
            out = self.expect_sentence(sentence, code=2, token=None, DIFFFUZZ_TOKEN=token)
            self.assertEqual(out, "")
            self.expect_sentence(sentence, code=2, token=None, GH_TOKEN=token)
        self.assertEqual(self.tracker.requests, [])

    def test_a_file_may_hold_the_token(self):
        with tempfile.TemporaryDirectory() as scratch:
            path = pathlib.Path(scratch) / "token"
            path.write_text(TOKEN + "\n")
            self.assertEqual(self.file(token=None, DIFFFUZZ_TOKEN_FILE=str(path))[0], 0)
            for text, sentence in (("", "it is empty"), ("a\nb\n", "it holds a line break")):
                path.write_text(text)
                self.expect_sentence("holds is no token: " + sentence, code=2, token=None,
                                     DIFFFUZZ_TOKEN_FILE=str(path))
            path.unlink()
            for bad in (str(path), scratch):
                out = self.expect_sentence("DIFFFUZZ_TOKEN_FILE: ", code=2, token=None,
                                           DIFFFUZZ_TOKEN_FILE=bad)
                self.assertEqual(out, "")

    def test_a_campaign_that_did_not_end_is_not_filed(self):
        path = self.kept.path / "campaign.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "state": "incomplete"}))
        for more in ([], ["--dry-run"]):
            out = self.expect_sentence("incomplete: this campaign did not end", *more, code=4)
            self.assertEqual(out, difffuzz("report", self.kept.path)[1])
        self.assertEqual(self.tracker.requests, [])

    def test_tokens_are_of_their_trackers(self):
        self.expect_sentence("no token", code=2, token=None, GITLAB_TOKEN=TOKEN)
        self.assertEqual(self.file(token=None, GH_TOKEN=TOKEN, GITLAB_TOKEN="other")[0], 0)

    def test_the_token_is_nowhere_but_in_the_request(self):
        # One of its own: other tests run at the same time.
        seen, token = [], f"only-here-{os.getpid()}"
        self.tracker.token = token

        def look(_):
            for process in pathlib.Path("/proc").glob("[0-9]*"):
                for name in ("environ", "cmdline"):
                    try:
                        text = (process / name).read_bytes()
                    except OSError:
                        continue
                    if process.name == str(self_pid) or b"filing_test" in text:
                        continue
                    if token.encode() in text:
                        seen.append(f"{process}/{name}")

        self_pid = os.getpid()
        self.tracker.cues.append(Cue("POST", "issues$", look))
        code, out, err = self.file(token=token)
        self.assertEqual(code, 0, out + err)
        self.assertEqual(seen, [])
        self.assertNotIn(token, out + err)
        for path in self.kept.path.rglob("*"):
            if path.is_file():
                self.assertNotIn(token.encode(), path.read_bytes(), path)
        for _, _, headers, raw in self.tracker.requests:
            self.assertEqual(headers["Authorization"], f"Bearer {token}")
            self.assertNotIn(token.encode(), raw)

    def test_a_certificate_that_nobody_signed_ends_it(self):
        with tempfile.TemporaryDirectory() as scratch:
            key, certificate = f"{scratch}/key", f"{scratch}/certificate"
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                            "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out",
                            certificate, "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
                            "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate, key)
            server = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
            server.socket = context.wrap_socket(server.socket, server_side=True)
            server.handle_error = lambda *_: None
            threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
            self.expect_sentence("is not one that this machine trusts", "--api-url",
                                 f"https://127.0.0.1:{server.server_address[1]}")
            server.shutdown()
            server.server_close()


if __name__ == "__main__":
    unittest.main(argv=sys.argv, verbosity=1)
