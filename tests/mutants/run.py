"""Applies mutants of the source tree to a copy of it; scripts/mutants says how it is called."""

import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIELDS = ["name", "file", "line", "becomes", "tests", "filter"]
# Far above what any of them takes, also on a machine that is busy with other work.
BUILD_SECONDS = 3600
TEST_SECONDS = 900

MISSED, USAGE, ENVIRONMENT, NO_VERDICT = 1, 2, 3, 4


class Failure(Exception):
    """A sentence and the exit status that goes with it."""

    def __init__(self, status, sentence):
        super().__init__(sentence)
        self.status = status


def say(sentence):
    print(f"mutants: {sentence}", file=sys.stderr, flush=True)


def read_mutants():
    """The blocks of mutants.txt as dictionaries of FIELDS."""
    text = (ROOT / "tests/mutants/mutants.txt").read_text(encoding="utf-8")
    mutants = []
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        if not lines:
            continue
        mutant = dict(line.split(": ", 1) for line in lines)
        if list(mutant) != FIELDS:
            raise Failure(ENVIRONMENT, f"a mutant has the fields {list(mutant)}, not {FIELDS}")
        mutants.append(mutant)
    return mutants


def update_copy(tree):
    """Makes `tree` hold what the source tree holds; a file that is right keeps its time."""
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others",
         "--exclude-standard"], cwd=ROOT, capture_output=True, check=True)
    names = {name for name in listed.stdout.decode().split("\0") if (ROOT / name).is_file()}
    for folder in {name.split("/")[0] for name in names if "/" in name}:
        for path in (tree / folder).rglob("*"):
            # CMake takes every source file that is there.
            if path.is_file() and path.relative_to(tree).as_posix() not in names:
                path.unlink()
    for name in names:
        source, target = ROOT / name, tree / name
        content = source.read_bytes()
        if not target.is_file() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            target.chmod(source.stat().st_mode & 0o777)


def mutated(text, mutant):
    """The text with the mutant's line replaced; None unless that stands in it once."""
    lines = text.split("\n")
    places = [i for i, line in enumerate(lines) if line.strip() == mutant["line"]]
    if len(places) != 1:
        return None
    old = lines[places[0]]
    lines[places[0]] = old[:len(old) - len(old.lstrip())] + mutant["becomes"]
    return "\n".join(lines)


def build(tree, targets):
    command = ["cmake", "--build", "build/release", "--target", *targets, "--", "--quiet"]
    return subprocess.run(command, cwd=tree, capture_output=True, text=True,
                          timeout=BUILD_SECONDS, check=False)


def run_tests(tree, mutant):
    return subprocess.run([f"build/release/bin/{mutant['tests']}",
                           f"--gtest_filter={mutant['filter']}"], cwd=tree, capture_output=True,
                          text=True, errors="replace", timeout=TEST_SECONDS, check=False)


def check_baseline(tree, mutants):
    say("building the tree as it is")
    # A mutant is one file, which is then all there is to compile.
    subprocess.run(["cmake", "--preset", "release", "-DCMAKE_UNITY_BUILD=OFF"], cwd=tree, check=True,
                   stdout=subprocess.DEVNULL)
    built = build(tree, sorted({mutant["tests"] for mutant in mutants}))
    if built.returncode != 0:
        raise Failure(NO_VERDICT, "the tree as it is does not build\n" + built.stdout)
    checked = set()
    for mutant in mutants:
        key = (mutant["tests"], mutant["filter"])
        if key in checked:
            continue
        checked.add(key)
        result = run_tests(tree, mutant)
        if result.returncode != 0 or "[  PASSED  ] 0 tests" in result.stdout:
            raise Failure(NO_VERDICT, f"without a mutant, {key[0]} --gtest_filter={key[1]} fails "
                          "or runs no test\n" + result.stdout)


def outcome_of(tree, mutant):
    path = tree / mutant["file"]
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    changed = mutated(text, mutant)
    if changed is None:
        return "stale"
    path.write_text(changed, encoding="utf-8")
    try:
        if build(tree, [mutant["tests"]]).returncode != 0:
            return "does not build"
        return "missed" if run_tests(tree, mutant).returncode == 0 else "caught"
    except subprocess.TimeoutExpired:
        return "timeout"
    finally:
        path.write_text(text, encoding="utf-8")


def choose(mutants, names):
    known = {mutant["name"] for mutant in mutants}
    for name in names:
        if name not in known:
            raise Failure(USAGE, f"there is no mutant '{name}'; --list has them")
    return [mutant for mutant in mutants if not names or mutant["name"] in names]


def run(arguments):
    mutants = choose(read_mutants(), arguments.only)
    if arguments.list:
        for mutant in mutants:
            print(f"{mutant['name']} {mutant['file']} {mutant['tests']} {mutant['filter']}")
        return 0
    tree = pathlib.Path(arguments.tree)
    try:
        update_copy(tree)
        check_baseline(tree, mutants)
    except subprocess.CalledProcessError as error:
        raise Failure(ENVIRONMENT, f"{error.cmd[0]} failed with {error.returncode}") from error
    except subprocess.TimeoutExpired as error:
        raise Failure(NO_VERDICT, f"{error.cmd[0]} did not end") from error
    counts = {}
    for mutant in mutants:
        outcome = outcome_of(tree, mutant)
        counts[outcome] = counts.get(outcome, 0) + 1
        print(f"{outcome}: {mutant['name']}", flush=True)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))
    if "missed" in counts:
        return MISSED
    return 0 if set(counts) == {"caught"} else NO_VERDICT


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--tree")
    parser.add_argument("--only", action="append", default=[])
    try:
        return run(parser.parse_args())
    except Failure as failure:
        say(str(failure))
        return failure.status


if __name__ == "__main__":
    sys.exit(main())
