"""What a release rests on: one version, a changelog that tags it, lower bounds that are bounds."""

import importlib.util
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

import truerisk

ROOT = Path(__file__).parents[1]
WORKFLOWS = ROOT / ".github" / "workflows"


def script(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / ".ci" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def release(tmp_path, monkeypatch):
    module = script("release")
    monkeypatch.setattr(module.versions, "__defaults__", (tmp_path,))
    monkeypatch.setattr(module, "ROOT", tmp_path)
    return module


def test_every_file_states_the_same_version():
    assert len(set(script("release").versions().values())) == 1
    assert truerisk.__version__ == version("truerisk")


def test_the_newest_section_of_the_changelog_is_the_release(release):
    text = "# Changelog\n\n## 0.2.0 (2026-01-31)\n\n- b\n\n## 0.1.0 (2025-12-01)\n\n- a\n"
    newest = release.newest(text)
    assert (newest.tag, newest.date, newest.notes) == ("v0.2.0", "2026-01-31", "- b")


def test_a_changelog_without_versions_is_refused(release):
    with pytest.raises(SystemExit, match="must have a heading"):
        release.newest("# Changelog\n\n## Next\n")


@pytest.mark.parametrize(
    ("heading", "words", "message"),
    [
        ("0.1.0 (unreleased)", [], "must give 0.1.0 a date"),
        ("0.1.0 (2026-01-31)", ["--check", "v0.2.0"], "The tag must be v0.1.0; got v0.2.0"),
        ("0.2.0 (2026-01-31)", [], "The versions must agree"),
    ],
)
def test_a_release_that_is_not_ready_is_refused(release, tmp_path, heading, words, message):
    write_project(tmp_path, heading)
    with pytest.raises(SystemExit, match=message):
        release.main(words)


def test_a_release_that_is_ready_is_tagged(release, tmp_path, capsys):
    write_project(tmp_path, "0.1.0 (2026-01-31)")
    release.main(["--check", "v0.1.0"])
    assert capsys.readouterr().out.startswith("git tag --annotate v0.1.0 ")


def write_project(folder, heading):
    (folder / "pyproject.toml").write_text('[project]\nversion = "0.1.0"\n')
    (folder / "CITATION.cff").write_text("title: x\nversion: 0.1.0\n")
    (folder / "CHANGELOG.md").write_text(f"# Changelog\n\n## {heading}\n\n- a\n")


def test_the_workflows_can_run_what_they_install():
    texts = [path.read_text(encoding="utf-8") for path in sorted(WORKFLOWS.glob("*.yml"))]
    jobs = [job for text in texts for job in yaml.safe_load(text)["jobs"].values()]
    runs = ["\n".join(step.get("run", "") for step in job["steps"]) for job in jobs]
    with_groups = [run for run in runs if "--group" in run]
    assert len(with_groups) == 3
    for run in with_groups:  # the pip that comes with Python 3.11 does not know groups
        assert run.index("install --upgrade pip") < run.index("--group")
        sources = "install -e . " in run or "cp clone/src/truerisk/kernels/" in run
        assert sources, "tests/kernels needs the sources of the loops, which a wheel lacks"


def test_the_workflow_tries_every_version_of_python_that_is_named():
    workflow = (WORKFLOWS / "tests.yml").read_text(encoding="utf-8")
    tried = yaml.safe_load(workflow)["jobs"]["newest"]["strategy"]["matrix"]["python"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [one.rpartition(" ")[2] for one in project["classifiers"] if ":: 3." in one]
    assert tried == named
    assert project["requires-python"] == f">={named[0]}"


def test_every_dependency_has_a_lower_bound_that_can_be_tried():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    pins = script("lowest").lowest(project)
    assert len(pins) >= len(project["project"]["dependencies"])
    assert all("==" in pin for pin in pins)
    wrong = {"project": {"dependencies": ["numpy"]}}
    with pytest.raises(SystemExit, match=r"'numpy' in pyproject\.toml has no lower bound"):
        script("lowest").lowest(wrong)
