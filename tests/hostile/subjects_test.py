#!/usr/bin/python3
"""Subjects that do their worst: each is a finding or an outcome of its own, and leaves nothing."""
import hashlib
import json
import pathlib
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from hostile import DIFFFUZZ, Place

HOST_FILE = pathlib.Path("/etc/passwd")


class Subjects(unittest.TestCase):
    def campaign(self, mode, ops, *more):
        place = Place(mode)
        self.addCleanup(place.scratch.cleanup)
        host = hashlib.sha256(HOST_FILE.read_bytes()).digest()
        before = set(place.path.iterdir())
        ended = place.run(place.campaign("out", "--no-triage", *more, iterations=16, ops=ops))
        self.assertEqual(place.processes(), [])
        self.assertEqual(place.mounts(), [])
        self.assertEqual(set(place.path.iterdir()) - before, {place.path / "out"})
        self.assertEqual(hashlib.sha256(HOST_FILE.read_bytes()).digest(), host)
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        return place, json.loads((place.path / "out/summary.json").read_text())

    def symptoms(self, summary):
        return {(bucket["type"], bucket["symptom"]["field"]) for bucket in summary["buckets"]}

    def test_outputs_that_are_links_pipes_and_devices_are_not_opened(self):
        for mode in ("linkout", "nullout", "fifoout"):
            with self.subTest(mode=mode):
                _, summary = self.campaign(mode, "create")
                fields = {field for kind, field in self.symptoms(summary)
                          if kind == "create_files_divergence"}
                self.assertTrue(fields & {"type", "escapes"}, self.symptoms(summary))

    def test_signals_to_all_and_to_its_group_reach_nobody_else(self):
        _, summary = self.campaign("killer", "info")
        self.assertIn("diverged", summary["books"])
        self.assertNotIn("harness_killed", summary["books"])
        self.assertEqual({kind for kind, _ in self.symptoms(summary)}, {"info_crash_divergence"})

    def test_streams_that_are_closed_are_what_was_printed(self):
        _, summary = self.campaign("closed", "info")
        self.assertIn("diverged", summary["books"])
        self.assertNotIn("inconclusive_external_timeout", summary["books"])

    def test_what_it_prints_steers_no_terminal_and_no_page(self):
        place, _ = self.campaign("painter", "info")
        for flag, name in (("--html", "a.html"), ("--markdown", "a.md"), ("--sarif", "a.sarif"),
                           ("--junit", "a.xml")):
            ended = place.run([DIFFFUZZ, "report", "out", flag, name])
            self.assertEqual(ended.returncode, 0, ended.stderr)
            text = (place.path / name).read_bytes()
            text.decode()
            self.assertIsNone(re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", text), name)
            # In Markdown it stands between fences.
            self.assertEqual(b"<img src=x onerror" in text, name == "a.md", name)
        shown = place.run([DIFFFUZZ, "report", "out"])
        self.assertIsNone(re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", shown.stdout))
        markdown = (place.path / "a.md").read_text()
        outside = re.sub(r"(?ms)^(`{3,})[a-z]*\n.*?^\1$", "", markdown)
        self.assertNotIn("painted", outside)
        self.assertNotIn("<img", outside)

    def test_only_its_workspace_can_be_written(self):
        _, summary = self.campaign("writer", "info")
        # It says by its exit code what it could write; and nothing but its own file is there.
        self.assertEqual(self.symptoms(summary), {("info_files_divergence", "leftover")})


class Surroundings(unittest.TestCase):
    """A tool that minds where it runs shows it in its second run, and nowhere else."""

    def test_a_subject_that_looks_around_is_nondeterministic(self):
        place = Place("homesick")
        self.addCleanup(place.scratch.cleanup)
        words = ("--determinism", "all")
        for jobs in ("1", "3"):
            ended = place.run(place.campaign(f"all-{jobs}", *words, iterations=12, jobs=jobs))
            self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertEqual(place.canonical("all-1"), place.canonical("all-3"))
        summary = json.loads((place.path / "all-1/summary.json").read_text())
        for bucket in summary["buckets"]:
            self.assertEqual((bucket["type"], bucket["severity"], bucket["status"]),
                             ("info_determinism_divergence", "nondeterminism", "new"))
        self.assertGreater(summary["determinism"]["cases"], 6)
        record = sorted(place.path.glob("all-1/records/*/*/record.json"))[0]
        self.assertEqual(json.loads(record.read_text())["details"]["differs"], "stdout")
        self.assertEqual(place.run(place.words("repro", record)).returncode, 0)
        script = place.run(["bash", record.parent / "reproduce.sh"], SUBJECT=str(place.subject))
        self.assertEqual(script.returncode, 0, script.stdout + script.stderr)
        gone = place.run(["bash", record.parent / "reproduce.sh"], SUBJECT="/usr/bin/qemu-img")
        self.assertEqual(gone.returncode, 1, gone.stdout + gone.stderr)

        ended = place.run(place.campaign("off", "--determinism", "off", iterations=12))
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertIn(b"determinism not looked at", ended.stdout)
        ended = place.run(place.campaign("other", "--determinism", "always"))
        self.assertEqual(ended.returncode, 2)


if __name__ == "__main__":
    unittest.main()
