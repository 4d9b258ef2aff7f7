#!/usr/bin/python3
"""difffuzz killed at any moment: no process stays, no finding goes.

KILLS in the environment: how often (default 10)."""
import os
import pathlib
import random
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from hostile import Place

CASES = 40
KILLS = int(os.environ.get("KILLS", "10"))


class Kills(unittest.TestCase):
    def setUp(self):
        self.place = Place("leftover")
        self.most_running = 0

    def tearDown(self):
        self.place.scratch.cleanup()

    def expect_nothing_left(self):
        # The kernel ends the workers; give it the time that it needs for that.
        deadline = time.monotonic() + 30
        while self.place.processes() and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertEqual(self.place.processes(), [])
        self.assertEqual(self.place.mounts(), [])

    def test_at_random_moments(self):
        place = self.place
        begin = time.monotonic()
        ended = place.run(place.campaign("undisturbed", iterations=CASES))
        length = time.monotonic() - begin
        self.assertEqual(ended.returncode, 1, ended.stderr)
        undisturbed = place.commits("undisturbed")
        draw = random.Random(11)
        kills = 0
        attempt = 0
        while kills < KILLS:
            # Short campaigns end before they are killed: then the next one begins.
            out = f"killed-{attempt}"
            attempt += 1
            kills += self.kill_until_it_ends(out, draw, length, KILLS - kills)
            seen = place.commits(out)
            killed = {index for index, (terminal, _) in seen.items() if terminal == "harness_killed"}
            self.assertEqual(set(seen), set(undisturbed))
            for index in set(seen) - killed:
                self.assertEqual(seen[index], undisturbed[index])
            self.assertLess(len(killed), CASES // 2)
            if not killed:
                self.assertEqual(place.canonical(out), place.canonical("undisturbed"))
        # Its workers are seen while they run.
        self.assertGreater(self.most_running, 1)

    def kill_until_it_ends(self, out, draw, length, most):
        place = self.place
        kills = 0
        while True:
            started = (place.path / out / "campaign.json").exists()
            words = place.resume(out) if started else place.campaign(out, iterations=CASES)
            before = place.commits(out)
            with subprocess.Popen(words, env=place.environment(), cwd=place.path,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL) as process:
                if kills == most:
                    code = process.wait(timeout=300)
                    self.assertIn(code, (1, 4))
                    return kills
                try:
                    code = process.wait(timeout=draw.uniform(0, length))
                    self.assertIn(code, (1, 4))
                    return kills
                except subprocess.TimeoutExpired:
                    self.most_running = max(self.most_running, len(place.processes()))
                    process.kill()
            kills += 1
            self.expect_nothing_left()
            after = place.commits(out)
            self.assertEqual({index: after.get(index) for index in before}, before)


if __name__ == "__main__":
    unittest.main()
