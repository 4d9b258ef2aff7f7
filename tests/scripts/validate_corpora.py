#!/usr/bin/python3
"""Checks every corpus of the source tree: nothing empty, everything tracked by git, entries valid.

Usage: validate_corpora.py SOURCE   Prints what was checked; exits with 1 when something is wrong.
"""
import json
import pathlib
import subprocess
import sys

import jsonschema


def corpora(source: pathlib.Path) -> list[pathlib.Path]:
    found = [path for path in source.joinpath("tests").rglob("*")
             if path.is_dir() and path.name.startswith("corp")]
    return [source / "apps/canary/exhibits", *sorted(found)]


def tracked(source: pathlib.Path) -> set[str] | None:
    """Paths that git tracks; None where this is no work tree, or git cannot be asked."""
    answer = subprocess.run(["git", "-c", f"safe.directory={source}", "-C", source, "ls-files", "-z"],
                            capture_output=True, check=False)
    return set(answer.stdout.decode().split("\0")) if answer.returncode == 0 else None


def main() -> int:
    source = pathlib.Path(sys.argv[1]).resolve()
    names = tracked(source)
    wrong = []
    files = [path for corpus in corpora(source) for path in sorted(corpus.rglob("*"))
             if not path.is_dir()]
    for path in files:
        name = str(path.relative_to(source))
        if path.is_symlink() or not path.is_file():
            wrong.append(f"{name}: no regular file")
        elif path.stat().st_size == 0 and "fuzz" not in path.parts:  # nothing is a seed, too
            wrong.append(f"{name}: empty")
        if names is not None and name not in names:
            wrong.append(f"{name}: not tracked by git")
    docs = {name: json.loads((source / f"docs/{name}.schema.json").read_text())
            for name in ("corpus", "probe", "recipe", "record")}
    store = {schema["$id"]: schema for schema in docs.values()}
    for schema in docs.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    entries = jsonschema.Draft202012Validator(
        docs["corpus"], resolver=jsonschema.RefResolver(docs["corpus"]["$id"], docs["corpus"],
                                                        store=store))
    if not list(entries.iter_errors({"schema": "difffuzz.corpus/1"})):
        wrong.append("the validator accepts an entry without its fields")
    own = sorted((source / "tests/corpus").rglob("*.json"))
    if not own:
        wrong.append("tests/corpus holds no entry")
    for path in own:
        error = jsonschema.exceptions.best_match(entries.iter_errors(json.loads(path.read_text())))
        if error is not None:
            wrong.append(f"{path.name}: /{'/'.join(map(str, error.absolute_path))}: "
                         f"{error.message[:200]}")
    print("\n".join(wrong))
    print(f"{len(files)} files, {len(own)} entries, "
          f"{'tracked' if names is not None else 'not a git work tree'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
