"""The hook and the action of the repository, run as pre-commit and GitHub run them."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = Path(sys.executable).parent
PREDICTIONS = "y_true,y_pred\n" + "1,1\n0,0\n" * 50
GATE = '[tool.truerisk.gate]\nfiles = "p.csv"\nrecall = ">= {}"\n'
# 50 of 50: the lower end of the exact interval is 0.929.
CASES = pytest.mark.parametrize(
    ("limit", "code"), [("0.9", 0), ("0.95", 1)], ids=["shown", "not shown"]
)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Make a repository with predictions, and find the scripts of this environment first."""
    monkeypatch.setenv("PATH", f"{SCRIPTS}{os.pathsep}{os.environ['PATH']}")
    for name in list(os.environ):
        if name.startswith(("GITHUB_", "GIT_")):
            monkeypatch.delenv(name)
    (tmp_path / "p.csv").write_text(PREDICTIONS, encoding="utf-8")
    return tmp_path


def run(*command, cwd, **environment):
    return subprocess.run(
        [*map(str, command)],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def committed(folder):
    """Put all files of a folder into a repository of git, and give its revision."""
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    for command in (("init", "-q"), ("add", "-A"), (*who, "commit", "-qm", "x", "--no-verify")):
        ended = run("git", *command, cwd=folder)
        assert ended.returncode == 0, ended.stderr
    return run("git", "rev-parse", "HEAD", cwd=folder).stdout.strip()


@CASES
def test_pre_commit_runs_the_hook(project, tmp_path_factory, limit, code):
    pytest.importorskip("pre_commit", reason="`make docs` brings pre-commit")
    if shutil.which("git") is None:
        pytest.skip("pre-commit needs git")
    hooks = tmp_path_factory.mktemp("hooks")
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", hooks)
    revision = committed(hooks)
    (project / "pyproject.toml").write_text(GATE.format(limit), encoding="utf-8")
    # By itself pre-commit builds the package in an environment of its own, which takes minutes:
    # `language: system` takes the truerisk of this one, and all else from the manifest.
    (project / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {hooks}\n  rev: {revision}\n"
        "  hooks: [{id: truerisk-gate, language: system}]\n",
        encoding="utf-8",
    )
    committed(project)
    ended = run(
        sys.executable,
        *("-m", "pre_commit", "run", "--all-files", "--color", "never"),
        cwd=project,
        PRE_COMMIT_HOME=str(tmp_path_factory.mktemp("home")),
    )
    assert ended.returncode == code, ended.stdout + ended.stderr
    words = "Passed" if code == 0 else "recall ≥ 0.95 is not shown"
    assert words in ended.stdout


def steps_of_action(inputs):
    """Read the steps of action.yml, and put the inputs in as GitHub does."""
    yaml = pytest.importorskip("yaml")
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    values = {name: str(one["default"]) for name, one in action["inputs"].items()} | inputs
    assert set(inputs) <= set(action["inputs"])

    def filled(text):
        return re.sub(r"\$\{\{ inputs\.([a-z-]+) \}\}", lambda found: values[found[1]], text)

    assert action["runs"]["using"] == "composite"
    for step in action["runs"]["steps"]:
        environment = {name: filled(value) for name, value in step.get("env", {}).items()}
        yield step, filled(step.get("run", "")), environment


@CASES
@pytest.mark.parametrize("junit", ["", "reports/results.xml"], ids=["", "junit"])
def test_the_steps_of_the_action_run_as_in_a_job_of_github(project, limit, code, junit):
    gate = GATE.format(limit).replace("tool.truerisk.", "")
    (project / "my gate.toml").write_text(gate, encoding="utf-8")
    (project / "reports").mkdir()
    files = {name: project / name for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    for file in files.values():
        file.touch()
    job = {"GITHUB_ACTIONS": "true", **{name: str(path) for name, path in files.items()}}
    job["PIP_NO_INDEX"] = "1"  # what the action installs is here already, and pip fetches nothing
    used, codes = [], []
    for step, script, environment in steps_of_action({"config": "my gate.toml", "junit": junit}):
        if "uses" in step:
            used.append(step["uses"])
            continue
        assert step["shell"] == "bash"
        # The command line of `shell: bash` in a job.
        ended = run(
            *("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script),
            cwd=project,
            **job,
            **environment,
        )
        codes.append(ended.returncode)
    assert used == ["actions/setup-python@v5"]
    assert codes == [0, code], ended.stdout + ended.stderr
    summary = files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8")
    assert "recall" in summary
    assert ("::error" in ended.stdout) == (code == 1)
    assert (project / "reports/results.xml").exists() == bool(junit)
