"""What the hostile tests share: small campaigns, and what they may not leave behind."""
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BINARIES = pathlib.Path(os.environ.get("DIFFFUZZ_BINARY_DIR", SOURCE / "build/release/bin"))
DIFFFUZZ = str(BINARIES / "difffuzz")
SHIM = str(BINARIES / "failing_calls.so")
REFERENCE = "/usr/bin/qemu-img"


class Place:
    """A directory with a subject that misbehaves in one way, and campaigns on it."""

    def __init__(self, mode):
        self.scratch = tempfile.TemporaryDirectory(prefix="difffuzz_hostile_")
        self.path = pathlib.Path(self.scratch.name)
        self.path.chmod(0o755)
        self.subject = self.path / f"bad_tool-{mode}"
        shutil.copy(BINARIES / "bad_tool", self.subject)
        self.mark = f"DIFFFUZZ_HOSTILE_TEST={self.path}"

    def environment(self, **more):
        name, value = self.mark.split("=", 1)
        return {**os.environ, name: value, **more}

    def words(self, *words):
        return [DIFFFUZZ, *map(str, words), "--no-config", "--subject", str(self.subject),
                "--reference", REFERENCE]

    def campaign(self, out, *more, iterations=3, ops="info", jobs=2):
        return self.words("run", "--seed", 5, "--iterations", iterations, "--ops", ops, "--jobs", jobs,
                          "--damaged", 0, "--out", out, *more)

    def resume(self, out):
        return self.words("run", "--resume", "--out", out)

    def run(self, words, timeout=120, **environment):
        return subprocess.run(words, env=self.environment(**environment), cwd=self.path,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout,
                              check=False)

    def canonical(self, out):
        ended = self.run([DIFFFUZZ, "report", out, "--canonical"])
        if ended.returncode != 0:
            raise AssertionError(ended.stderr.decode())
        return ended.stdout

    def processes(self):
        """Processes of difffuzz that this object's runs started, and of their subject."""
        subject = os.stat(self.subject)
        left = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                ours = self.mark.encode() in (process / "environ").read_bytes().split(b"\0")
                program = os.stat(process / "exe")
            except OSError:
                continue
            if ours or (program.st_dev, program.st_ino) == (subject.st_dev, subject.st_ino):
                left.append(int(process.name))
        return left

    def mounts(self):
        return [line for line in pathlib.Path("/proc/self/mounts").read_text().splitlines()
                if str(self.path) in line or "/side/" in line]

    def commits(self, out):
        """Index -> outcome and type, of what the journal says was committed."""
        found = {}
        journal = self.path / out / "journal.ndjson"
        for line in journal.read_bytes().splitlines(keepends=True) if journal.exists() else []:
            if line.endswith(b"\n") and b'"committed"' in line:
                report = json.loads(line)["committed"]
                found[report["index"]] = (report["terminal"], report.get("type", ""))
        return found


def one_sentence(ended):
    """Whether it ended by itself, and what it has to say stands on one line."""
    text = ended.stderr.decode(errors="replace")
    lines = [line for line in text.splitlines() if line.startswith("difffuzz: ")]
    return ended.returncode >= 0 and len(lines) == 1 and "a fault of difffuzz" not in text
