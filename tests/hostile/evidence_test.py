#!/usr/bin/python3
"""Evidence on a disk that fails, and evidence that somebody spoilt."""
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from hostile import DIFFFUZZ, REFERENCE, SHIM, Place, one_sentence

# What a campaign writes, and which calls it writes it with.
WHOLE_FILES = ("campaign.json", "plan.json", "record.json", "reproduce.sh", "subject-step0.json",
               "summary.json", "summary.txt")


def setUpModule():
    global place, expected
    place = Place("dead")
    ended = place.run(place.campaign("undisturbed"))
    if ended.returncode != 1:
        raise RuntimeError(ended.stdout + ended.stderr)
    expected = place.canonical("undisturbed")


def tearDownModule():
    place.scratch.cleanup()


class FailingDisk(unittest.TestCase):
    def tearDown(self):
        self.assertEqual(place.processes(), [])
        self.assertEqual(place.mounts(), [])

    def expect_whole(self, out):
        """Every file is complete, old or new. What other workers were at is not committed."""
        files = [path for path in (place.path / out).rglob("*")
                 if "staging" not in path.relative_to(place.path).parts]
        self.assertEqual([path for path in files if path.suffix == ".new"], [])
        for path in (path for path in files if path.suffix == ".json"):
            with self.subTest(path=path):
                json.loads(path.read_text())

    def expect_finished(self, out):
        # One that ended before it was begun is begun in the same place.
        started = (place.path / out / "campaign.json").exists()
        ended = place.run(place.resume(out) if started else place.campaign(out))
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertEqual(place.canonical(out), expected)

    def disturb(self, name, call):
        out = f"{name}-{call}"
        ended = place.run(place.campaign(out), LD_PRELOAD=SHIM, FAIL_NAME=name, FAIL_CALL=call)
        self.assertEqual(ended.returncode, 3, ended.stdout + ended.stderr)
        self.assertTrue(one_sentence(ended), ended.stderr)
        self.assertIn(name.encode(), ended.stderr)
        self.expect_whole(out)
        return out

    def test_a_write_that_fails_ends_it_and_loses_nothing(self):
        for name in WHOLE_FILES:
            with self.subTest(name=name):
                self.expect_finished(self.disturb(name, "write"))

    def test_a_sync_or_a_rename_that_fails_likewise(self):
        for number, name in enumerate(WHOLE_FILES):
            with self.subTest(name=name):
                self.disturb(name, "fsync" if number % 2 else "rename")

    def test_the_journal_too(self):
        for call in ("write", "fsync"):
            with self.subTest(call=call):
                self.expect_finished(self.disturb("journal.ndjson", call))

    def test_the_library_that_fails_them_does_nothing_by_itself(self):
        self.assertEqual(place.run(place.campaign("idle"), LD_PRELOAD=SHIM).returncode, 1)
        self.assertEqual(place.canonical("idle"), expected)

    def test_a_clock_that_jumps_changes_nothing(self):
        ended = place.run(place.campaign("clock"), LD_PRELOAD=SHIM, CLOCK_JUMPS="1")
        self.assertEqual(ended.returncode, 1, ended.stderr)
        self.assertEqual(place.canonical("clock"), expected)

    @unittest.skipIf(os.geteuid() != 0, "needs root, to mount a small disk")
    def test_a_full_disk_ends_it_with_all_before_it_intact(self):
        disk = place.path / "disk"
        disk.mkdir()
        script = ('mount -t tmpfs -o "size=$1" tmpfs "$2" && shift 2 && "$@"; code=$?; '
                  'cp -r disk/out copy; exit $code')
        ended = place.run(["unshare", "-m", "bash", "-c", script, "bash", "48k", disk,
                           *place.campaign("disk/out", iterations=40)])
        self.assertEqual(ended.returncode, 3, ended.stdout + ended.stderr)
        self.assertTrue(one_sentence(ended), ended.stderr)
        self.assertIn(b"No space left on device", ended.stderr)
        self.expect_whole("copy")
        before = place.commits("copy")
        ended = place.run(place.resume("copy"))
        self.assertEqual(ended.returncode, 1, ended.stderr)
        after = place.commits("copy")
        self.assertEqual({index: after[index] for index in before}, before)
        self.assertEqual(len(after), 40)

    @unittest.skipIf(os.geteuid() != 0, "needs root, to mount a disk that cannot be written")
    def test_a_disk_that_cannot_be_written_is_said_at_once(self):
        disk = place.path / "read-only"
        disk.mkdir()
        for out in ("read-only/out", "read-only"):
            ended = place.run(["unshare", "-m", "bash", "-c",
                               'mount -t tmpfs -o ro tmpfs "$1" && shift && exec "$@"', "bash", disk,
                               *place.campaign(out)])
            self.assertEqual(ended.returncode, 3, ended.stdout + ended.stderr)
            self.assertTrue(one_sentence(ended), ended.stderr)
            self.assertIn(out.encode(), ended.stderr)
            self.assertIn(b"Read-only file system", ended.stderr)


class SpoiltEvidence(unittest.TestCase):
    """No more than one sentence, whatever stands in a file; and no other file is touched."""

    def setUp(self):
        self.out = place.path / "spoilt"
        shutil.copytree(place.path / "undisturbed", self.out)

    def tearDown(self):
        shutil.rmtree(self.out)

    def files(self):
        record = sorted(self.out.glob("records/*/*/record.json"))[0]
        return [self.out / name for name in
                ("campaign.json", "plan.json", "summary.json", "journal.ndjson")] + [record]

    def expect_told(self, words, spoilt):
        ended = place.run(words)
        self.assertIn(ended.returncode, range(8), ended.stderr)
        if ended.returncode in (2, 3):
            self.assertTrue(one_sentence(ended), ended.stderr)
        self.assertNotIn(b"a fault of difffuzz", ended.stderr, spoilt)

    def look(self, spoilt, path):
        self.expect_told([DIFFFUZZ, "report", "spoilt", "--markdown", "-"], spoilt)
        self.expect_told([DIFFFUZZ, "report", "spoilt", "--canonical"], spoilt)
        if path.name == "record.json":
            self.expect_told(place.words("repro", path), spoilt)

    def test_files_that_were_cut(self):
        for path in self.files():
            whole = path.read_bytes()
            for length in (0, 1, len(whole) // 2, len(whole) - 2):
                with self.subTest(path=path, length=length):
                    path.write_bytes(whole[:length])
                    self.look((path, length), path)
            path.write_bytes(whole)

    def test_files_with_a_byte_that_was_flipped(self):
        draw = random.Random(4)
        for path in self.files():
            whole = path.read_bytes()
            for _ in range(8):
                at = draw.randrange(len(whole))
                flipped = bytes([whole[at] ^ 1 << draw.randrange(8)])
                with self.subTest(path=path, at=at):
                    path.write_bytes(whole[:at] + flipped + whole[at + 1:])
                    self.look((path, at), path)
            path.write_bytes(whole)

    def test_a_campaign_is_not_resumed_on_what_was_spoilt(self):
        for name in ("campaign.json", "plan.json", "journal.ndjson"):
            path = self.out / name
            whole = path.read_bytes()
            with self.subTest(name=name):
                path.write_bytes(b"\0" + whole[1:])
                ended = place.run(place.resume("spoilt"))
                self.assertIn(ended.returncode, (2, 3))
                self.assertTrue(one_sentence(ended), ended.stderr)
                self.assertIn(name.encode(), ended.stderr)
            path.write_bytes(whole)


if __name__ == "__main__":
    unittest.main()
