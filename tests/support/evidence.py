"""What the filing tests share: evidence with many buckets, and difffuzz as a process."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BINARIES = pathlib.Path(os.environ.get("DIFFFUZZ_BINARY_DIR", SOURCE / "build/release/bin"))
DIFFFUZZ = str(BINARIES / "difffuzz")
TALKER = str(BINARIES / "talker")
REFERENCE = "/usr/bin/qemu-img"
TOKEN = "secret-token-0123456789"
TOOLS = ["--subject", TALKER, "--reference", REFERENCE, "--no-config"]


def published(name):
    """A file that scripts/test gets from the npm registry."""
    path = SOURCE / ".tools/published" / name
    if not path.is_file():
        raise RuntimeError(f"{path} is missing; scripts/test gets it")
    return path


def environment(token=TOKEN, **more):
    kept = {name: value for name, value in os.environ.items() if not name.endswith("TOKEN")}
    return {**kept, **({"DIFFFUZZ_TOKEN": token} if token else {}), **more}


def difffuzz(*words, token=TOKEN, cwd=None, timeout=120, **more):
    ended = subprocess.run([DIFFFUZZ, *map(str, words)], env=environment(token, **more), cwd=cwd,
                           stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           timeout=timeout, check=False)
    return ended.returncode, ended.stdout, ended.stderr


def campaign(directory, buckets, *more, ends_with=1):
    """Evidence with this many buckets, unless triage finds more; what `run` printed."""
    code, out, err = difffuzz("run", "--seed", "7", "--iterations", "2000", "--max-new", buckets,
                              "--ops", "info,map,measure", "--damaged", "0", "--out", directory,
                              "--jobs", "2", *TOOLS, *more)
    if code != ends_with:
        raise RuntimeError(f"exit code {code}\n{out}\n{err}")
    return out


class Evidence:
    """A copy of evidence that is made once a process for each number of buckets."""

    made = {}

    def __init__(self, buckets):
        if buckets not in Evidence.made:
            scratch = tempfile.TemporaryDirectory(prefix="difffuzz_filing_")
            campaign(pathlib.Path(scratch.name) / "out", buckets, "--no-triage")
            Evidence.made[buckets] = scratch
        self.scratch = tempfile.TemporaryDirectory(prefix="difffuzz_filing_")
        self.path = pathlib.Path(self.scratch.name) / "out"
        shutil.copytree(pathlib.Path(Evidence.made[buckets].name) / "out", self.path)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.scratch.cleanup()

    def fingerprints(self):
        return sorted({path.name.rsplit("-", 1)[1] for path in (self.path / "records").iterdir()})

    def file(self, tracker, *more, **options):
        """Runs `difffuzz file` against a server of tracker_server.py; what `more` gives goes."""
        flags = {"--tracker": tracker.kind, "--api-url": tracker.url, "--repo": tracker.repo,
                 "--subject": TALKER, "--reference": REFERENCE}
        words = [word for flag, value in flags.items() if flag not in more for word in (flag, value)]
        return difffuzz("file", self.path, "--no-config", *words, *more, **options)


def buckets_of(tracker):
    """The fingerprint of each of our issues, one a marker line; None for an issue without."""
    found = []
    for issue in tracker.ours():
        lines = re.findall(r"^Bucket: `difffuzz-bucket-([0-9a-f]{16})`$", issue["text"], re.M)
        found.append(lines[-1] if lines else None)
    return sorted(found)
