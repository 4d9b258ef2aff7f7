#!/usr/bin/python3
"""Filing when things go wrong: 40 buckets over nights, crashes, lost answers; and other trackers."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import evidence
from evidence import Evidence, buckets_of
from openapi import OpenApi
from rendered import Rendered
from tracker_server import Cue, Gitea, GitHub, GitLab

CHECKER = OpenApi(evidence.published("api.github.com.json"))
MANY = 40
FEW = 3


class Case(unittest.TestCase):
    def enter(self, context):
        value = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return value

    def begin(self, tracker, buckets=FEW):
        self.tracker = self.enter(tracker)
        self.kept = self.enter(Evidence(buckets))

    def tearDown(self):
        self.assertEqual(self.tracker.problems, [])

    def expect(self, code, *more, **options):
        ended, out, err = self.kept.file(self.tracker, *more, **options)
        self.assertEqual(ended, code, out + err)
        self.assertNotIn(evidence.TOKEN, out + err)
        return out

    def expect_one_each(self):
        self.assertEqual(buckets_of(self.tracker), self.kept.fingerprints())


class Nights(Case):
    def a_day_later(self):
        self.tracker.update_index()
        for issue in self.tracker.issues:
            issue["created"] -= 90_000
            issue["changed"] -= 90_000

    def test_forty_buckets_ten_a_night(self):
        self.begin(GitHub(checker=CHECKER), MANY)
        # What is there already: more than a page of it holds the word that is searched for.
        for number in range(130):
            self.tracker.add("else", f"about `difffuzz-bucket-{self.kept.fingerprints()[0]}`, no marker",
                             pull=number % 2 == 1)
        self.tracker.update_index()
        theirs = len(self.tracker.issues)
        self.tracker.ours = lambda: self.tracker.issues[theirs:]
        for night in range(1, 5):
            out = self.expect(7 if night < 4 else 0)
            self.assertEqual(len(self.tracker.ours()), 10 * night, out)
            self.assertEqual(out.count("filed as #"), 10)
            self.assertEqual(out.count("not filed, --max-issues"), MANY - 10 * night)
            self.a_day_later()
            if night == 2:
                (self.kept.path / "filed.json").unlink()
        self.expect_one_each()
        out = self.expect(0)
        self.assertEqual(out.count("nothing new"), MANY)
        self.expect_one_each()
        for issue in self.tracker.ours():
            self.assertLessEqual(len(issue["text"].encode()), 60_000)
            rendered = Rendered(issue["text"])
            self.assertEqual(rendered.problems(), [])
            self.assertIn("OWNED", rendered.code)
            self.assertEqual(Rendered("# " + issue["title"]).outside.strip(), issue["title"])
            self.assertNotIn("@", issue["title"])

    def test_crashes_between_request_and_answer(self):
        self.begin(GitHub(checker=CHECKER))

        def kill_all(carry_out):
            def act(tracker):
                children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
                filing = [int(pid) for pid in children.read_text().split()]
                self.process.send_signal(signal.SIGKILL)
                self.process.wait()
                for pid in filing:  # the kernel ends it with its parent
                    for _ in range(1000):
                        if not pathlib.Path(f"/proc/{pid}").exists():
                            break
                        tracker.ended.wait(0.01)
                    else:
                        tracker.problems.append("the filing process outlives difffuzz")
                if not carry_out:
                    raise ConnectionAbortedError
            return act

        self.tracker.server.handle_error = lambda *_: None
        for carry_out in (True, False, True):
            self.tracker.cues = [Cue("POST", "issues$", kill_all(carry_out))]
            with tempfile.TemporaryFile() as output:
                self.process = subprocess.Popen(
                    [evidence.DIFFFUZZ, "file", self.kept.path, "--api-url", self.tracker.url,
                     "--repo", self.tracker.repo, *evidence.TOOLS], env=evidence.environment(),
                    stdin=subprocess.DEVNULL, stdout=output, stderr=output)
                self.process.wait(60)
            self.assertEqual(self.process.returncode, -signal.SIGKILL)
            self.tracker.settle()
        self.assertEqual(len(self.tracker.issues), 2)
        self.expect(0)
        self.expect_one_each()

    def test_lost_answers_do_not_file_twice(self):
        self.begin(GitHub(checker=CHECKER))
        self.tracker.cues = [Cue("POST", "issues$", "lose"), Cue("POST", "issues$", "drop"),
                             Cue("POST", "issues$", 502), Cue("GET", "issues", "drop", times=2)]
        out = self.expect(0)
        self.assertEqual(out.count("filed as #"), FEW)
        self.expect_one_each()
        for issue in self.tracker.issues:
            issue["text"] = issue["text"].replace("difffuzz-seen-", "difffuzz-seen-0")
        self.tracker.cues = [Cue("POST", "comments$", "lose"), Cue("POST", "comments$", "drop")]
        self.expect(0)
        self.assertEqual([len(issue["comments"]) for issue in self.tracker.issues], [1] * FEW)

    def test_a_late_answer_is_left_to_the_next_run(self):
        self.begin(GitHub(checker=CHECKER))
        self.tracker.cues = [Cue("POST", "issues$", "late")]
        out = self.expect(7, "--tracker-timeout", 1)
        self.assertIn("may still be carried out", out)
        self.tracker.ended.wait(2)
        out = self.expect(0)
        self.assertEqual(out.count("nothing new"), FEW)
        self.expect_one_each()

    def test_what_does_not_answer_or_fails_always_ends_in_a_sentence(self):
        self.begin(GitHub(checker=CHECKER))
        self.tracker.cues = [Cue("GET", "issues", "hang", times=9)]
        self.assertIn("did not answer in time, 4 times", self.expect(7, "--tracker-timeout", 1))
        self.tracker.cues = [Cue("GET", "issues", 500, times=9)]
        self.assertIn("failed (500: on cue), 4 times", self.expect(7))
        self.assertIn("cannot be reached", self.expect(7, "--api-url", "http://127.0.0.1:9"))
        self.assertEqual(self.tracker.issues, [])

    def test_rate_limits_are_waited_for(self):
        self.begin(GitHub(checker=CHECKER))
        self.tracker.cues = [
            Cue("GET", "issues", 429, headers={"Retry-After": "1"}),
            Cue("POST", "issues$", 403, headers={"Retry-After": "1"}),
            Cue("POST", "issues$", 403, headers={"X-RateLimit-Remaining": "0",
                                                 "X-RateLimit-Reset": "1"})]
        self.expect(0)
        self.expect_one_each()

    def test_a_token_goes_to_no_other_host(self):
        self.begin(GitHub(checker=CHECKER))
        other = self.enter(GitHub(checker=CHECKER))
        for status in (301, 302, 307, 308):
            self.tracker.cues = [Cue("POST", "issues$", status, headers={
                "Location": f"{other.url}/repos/some/tool/issues"})]
            self.assertIn(f"redirect ({status})", self.expect(7))
        self.assertEqual(other.requests, [])


class OtherTrackers(Case):
    def whole_life(self, tracker, variable):
        self.begin(tracker)
        for number in range(60):
            tracker.add("else", "nothing of ours", pull=number % 2 == 1)
        theirs = len(tracker.issues)
        tracker.cues = [Cue("POST", "issues$", "lose")]
        options = {"token": None, variable: evidence.TOKEN}
        self.expect(0, "--label", "one", "--label", "two", **options)
        self.expect_one_each()
        self.assertEqual(len(tracker.shown(tracker.ours()[0])["labels"]), 2)
        tracker.update_index()
        first, second = tracker.ours()[:2]
        first["text"] = first["text"].replace("difffuzz-seen-", "difffuzz-seen-0")
        second.update(state="closed")
        for issue in tracker.issues:
            issue["created"] = issue["changed"] = 1e9
        (self.kept.path / "filed.json").unlink()
        out = self.expect(0, **options)
        self.assertEqual((out.count("commented"), out.count("reopened")), (1, 1), out)
        self.assertEqual((len(first["comments"]), second["state"]), (1, "open"))
        second.update(state="closed")
        self.expect(0, "--on-closed", "new", **options)
        self.assertEqual(len(tracker.issues), theirs + FEW + 1)
        self.assertIn("does not accept the token", self.expect(7, token="wrong"))

    def test_gitlab(self):
        self.whole_life(GitLab(), "GITLAB_TOKEN")

    def test_gitea(self):
        self.whole_life(Gitea(), "FORGEJO_TOKEN")


class Campaign(Case):
    def test_a_campaign_files_at_its_end_and_keeps_its_verdict(self):
        self.tracker = self.enter(GitHub(checker=CHECKER))
        with tempfile.TemporaryDirectory() as scratch:
            words = ["--create-issues", "--repo", self.tracker.repo, "--api-url", self.tracker.url]
            # What was not confirmed is not filed.
            out = evidence.campaign(f"{scratch}/a", FEW, "--no-triage", *words)
            self.assertEqual(out.count("not filed: its status is untriaged"), FEW, out)
            confirmed = [*words, "--triage-runs", "1"]
            out = evidence.campaign(f"{scratch}/b", FEW, *confirmed)
            filed = len(self.tracker.issues)
            self.assertGreaterEqual(filed, FEW)
            self.assertEqual(out.count("filed as #"), filed)
            # Nor is what an older subject shows, too.
            out = evidence.campaign(f"{scratch}/d", FEW, "--baseline", evidence.TOOLS[1],
                                    *confirmed, ends_with=0)
            self.assertGreaterEqual(out.count("not filed: its status is pre-existing"), FEW, out)
            self.tracker.token = "changed"
            out = evidence.campaign(f"{scratch}/c", FEW, *confirmed)
            self.assertIn("does not accept the token", out)
            self.assertIn("tries again", out)
            self.assertEqual(len(self.tracker.issues), filed)


if __name__ == "__main__":
    os.environ.pop("http_proxy", None)
    unittest.main(argv=sys.argv, verbosity=1)
