#!/usr/bin/python3
"""Holds the workflow files against the program's own lists and against what a night must have.

Usage: workflows_test.py    (DIFFFUZZ_BINARY_DIR names the directory of difffuzz)
"""
import os
import pathlib
import re
import subprocess
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
DIFFFUZZ = pathlib.Path(os.environ["DIFFFUZZ_BINARY_DIR"]) / "difffuzz"
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
GITLAB = ROOT / "docs/ci/gitlab-ci.yml"
SCALING = ROOT / "docs/scaling.md"
LEAST_DAYS = 30
MOST_MINUTES = 360


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def load(path):
    return yaml.load(path.read_text(), Loader=yaml.BaseLoader)


def jobs(workflow):
    return workflow["jobs"].items()


def commands(text):
    """The words of each difffuzz command in a script, joined lines first."""
    text = re.sub(r"\\\n", " ", text)
    found = re.findall(r"(?:^|/|\s|')difffuzz (?!-)([a-z]+[^\n|&;']*)", text)
    return [words.split() for words in found]


def command_flags():
    overview = output(DIFFFUZZ, "--help")
    names = re.findall(r"^  ([a-z]+)  ", overview, re.M)
    return {name: set(re.findall(r"--[a-z-]+", output(DIFFFUZZ, name, "--help"))) for name in names}


class Commands(unittest.TestCase):
    flags = command_flags()
    operations = {line.split()[0] for line in output(DIFFFUZZ, "ops").splitlines()
                  if re.match(r"^[a-z_]+ ", line)}

    def check(self, path, text):
        found = commands(text)
        self.assertTrue(found, path)
        for words in found:
            self.assertIn(words[0], self.flags, path)
            for word in words[1:]:
                if word.startswith("--"):
                    self.assertIn(word.split("=")[0], self.flags[words[0]], f"{path}: {words}")
            for flag, value in zip(words, words[1:]):
                if flag == "--ops":
                    for name in re.split(r"[,=0-9-]+", value.strip('"')):
                        self.assertIn(name, self.operations | {""}, path)

    def test_every_command_and_flag_is_the_programs_own(self):
        self.assertIn("convert", self.operations)
        for path in WORKFLOWS:
            steps = [step.get("run", "") for _, job in jobs(load(path)) for step in job["steps"]]
            self.check(path, "\n".join(steps))
        for name, job in load(GITLAB).items():
            if isinstance(job, dict) and "script" in job:
                # What fails in an after_script makes no job red.
                self.assertNotIn("after_script", job, name)
                self.check(f"{GITLAB}: {name}", "\n".join(job["script"]))
        code = [line for line in SCALING.read_text().splitlines() if line.startswith("    ")]
        self.check(SCALING, "\n".join(code))

    def test_scripts_that_are_called_are_there(self):
        for path in [*WORKFLOWS, GITLAB]:
            for script in re.findall(r"\bscripts/[a-z-]+", path.read_text()):
                self.assertTrue((ROOT / script).is_file(), f"{path}: {script}")


class GitHub(unittest.TestCase):
    def test_triggers(self):
        names = {path.name: load(path) for path in WORKFLOWS}
        self.assertIn("schedule", names["nightly.yml"]["on"])
        self.assertIn("workflow_dispatch", names["nightly.yml"]["on"])
        self.assertIn("pull_request", names["pull-request.yml"]["on"])

    def test_every_job_has_a_ceiling_and_keeps_what_it_made(self):
        for path in WORKFLOWS:
            workflow = load(path)
            self.assertEqual(workflow["permissions"], {"contents": "read"}, path)
            for name, job in jobs(workflow):
                where = f"{path}: {name}"
                self.assertLessEqual(int(job["timeout-minutes"]), MOST_MINUTES, where)
                self.assertNotIn("continue-on-error", str(job), where)
                uploads = [step for step in job["steps"]
                           if step.get("uses", "").startswith("actions/upload-artifact@")]
                if "outputs" not in job:  # a job that only plans makes nothing to keep
                    self.assertTrue(uploads, where)
                for step in uploads:
                    self.assertEqual(step.get("if"), "always()", where)
                    self.assertEqual(step["with"].get("if-no-files-found"), "error", where)
                    self.assertGreaterEqual(int(step["with"]["retention-days"]), LEAST_DAYS, where)

    def test_targets_and_shards_come_from_the_programs_own_lists(self):
        workflow = load(ROOT / ".github/workflows/nightly.yml")
        plan = workflow["jobs"]["plan"]
        lists = next(step for step in plan["steps"] if step.get("id") == "lists")
        self.assertIn("scripts/fuzz --list", lists["run"])
        fuzz = workflow["jobs"]["fuzz"]["strategy"]["matrix"]["target"]
        self.assertEqual(fuzz, "${{ fromJSON(needs.plan.outputs.targets) }}")
        campaign = workflow["jobs"]["campaign"]
        shards = campaign["strategy"]["matrix"]["shard"]
        self.assertEqual(shards, [str(i + 1) for i in range(len(shards))])
        script = "\n".join(step.get("run", "") for step in campaign["steps"])
        self.assertIn('--shard "${{ matrix.shard }}/${{ strategy.job-total }}"', script)
        self.assertEqual(campaign["strategy"]["fail-fast"], "false")
        merge = workflow["jobs"]["merge"]
        self.assertEqual(merge["if"], "always()")
        self.assertIn("campaign", merge["needs"])

    def test_the_gate_is_red_for_regressions_only(self):
        gate = load(ROOT / ".github/workflows/pull-request.yml")["jobs"]["gate"]
        runs = [step.get("run", "") for step in gate["steps"]]
        replay = next(i for i, run in enumerate(runs) if "difffuzz replay tests/corpus" in run)
        campaign = next(i for i, run in enumerate(runs) if "difffuzz run" in run)
        self.assertLess(replay, campaign)
        self.assertIn("--baseline", runs[campaign])


class GitLab(unittest.TestCase):
    def test_the_example_is_whole(self):
        example = load(GITLAB)
        campaign, merge = example["campaign"], example["merge"]
        self.assertGreater(int(campaign["parallel"]), 1)
        self.assertIn("--shard auto", " ".join(campaign["script"]))
        self.assertEqual(merge["when"], "always")
        for job in (campaign, merge):
            self.assertEqual(job["artifacts"]["when"], "always")
            days = int(re.match(r"(\d+) days", job["artifacts"]["expire_in"]).group(1))
            self.assertGreaterEqual(days, LEAST_DAYS)
            self.assertIn("timeout", job)


class Kubernetes(unittest.TestCase):
    def test_the_manifest_numbers_its_shards(self):
        text = SCALING.read_text()
        begin = text.index("    apiVersion: batch/v1")
        block = text[begin:text.index("\n\n`completions`", begin)]
        job = yaml.load(re.sub(r"^    ", "", block, flags=re.M), Loader=yaml.BaseLoader)
        self.assertEqual(job["spec"]["completionMode"], "Indexed")
        container = job["spec"]["template"]["spec"]["containers"][0]
        self.assertIn({"name": "DIFFFUZZ_SHARD_COUNT", "value": job["spec"]["completions"]},
                      container["env"])
        self.assertIn("--shard auto", container["args"][0])


if __name__ == "__main__":
    unittest.main()
