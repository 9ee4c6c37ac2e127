import hashlib
import json
import os
import subprocess
import sys
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from urllib.parse import quote, unquote, urlsplit
from urllib.request import Request, urlopen

import pytest

import truerisk as tr
from truerisk.errors import InputError, ResourceError
from truerisk.inputs.records.places import (
    HASHED_AT_ONCE,
    find_files,
    sha256_of,
    shown_path,
    such_rows,
)


def test_a_long_path_keeps_its_end():
    shown = shown_path("folder/" * 50 + "predictions.csv")
    assert len(shown) == 80
    assert shown.startswith("…")
    assert shown.endswith("/predictions.csv")


def test_one_row_needs_no_count():
    assert such_rows(1, 10) == ""
    assert such_rows(3, 10) == " (3 such rows up to row 10)"


CSV = "y_true,y_pred\n1,1\n0,0\n1,0\n0,0\n"


@pytest.fixture
def folder(tmp_path):
    """Serve a folder by HTTP."""
    (tmp_path / "p.csv").write_text(CSV, encoding="utf-8")
    handler = partial(SimpleHTTPRequestHandler, directory=tmp_path)
    handler.log_message = lambda *_: None
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_a_file_is_read_by_http(folder):
    evaluation = tr.evaluate_files(f"{folder}/p.csv?token=secret")
    assert evaluation["recall"].value == 0.5
    assert evaluation.source["files"][0].path == f"{folder}/p.csv"
    with pytest.raises(ResourceError, match=r"absent\.csv: reading failed .*404"):
        tr.evaluate_files(f"{folder}/absent.csv")


@pytest.fixture
def bucket(monkeypatch):
    """Run a server of S3, and put a file of predictions into it."""
    server_of = pytest.importorskip("moto.server").ThreadedMotoServer
    boto3 = pytest.importorskip("boto3")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    server = server_of(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    client = boto3.client("s3", endpoint_url=f"http://{host}:{port}", region_name="us-east-1")
    client.create_bucket(Bucket="runs")
    client.put_object(Bucket="runs", Key="a/p.csv", Body=CSV.encode())
    for key in ("b/one.csv", "b/deep/two.csv", "b/_SUCCESS", "b/.hidden.csv", "b/notes.md"):
        client.put_object(Bucket="runs", Key=key, Body=CSV.encode())
    yield (
        lambda key: f"s3://runs/{key}?endpoint_override={host}:{port}&scheme=http&region=us-east-1"
    )
    server.stop()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_file_is_read_from_s3(bucket):
    evaluation = tr.evaluate_files(bucket("a/p.csv"))
    assert evaluation["recall"].value == 0.5
    assert evaluation.source["files"][0].path == "s3://runs/a/p.csv"
    with pytest.raises(InputError, match=r"s3://runs/a/q\.csv: there is no such file"):
        tr.evaluate_files(bucket("a/q.csv"))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("key", ["b", "b/"])
def test_a_folder_is_read_from_s3_as_one_on_this_disk_is(bucket, key, tmp_path):
    remote = tr.evaluate_files(bucket(key))
    (tmp_path / "deep").mkdir()
    for name in ("one.csv", "deep/two.csv", "_SUCCESS", ".hidden.csv", "notes.md"):
        (tmp_path / name).write_text(CSV, encoding="utf-8")
    for local in (tr.evaluate_files(tmp_path), tr.evaluate_files(f"file://{tmp_path}")):
        assert remote.n == local.n == 8
        assert {**remote.estimates} == {**local.estimates}
        expected = [one.path.replace(f"{tmp_path}", "s3://runs/b") for one in local.source["files"]]
        assert [one.path for one in remote.source["files"]] == expected
    (note,) = (one for one in remote.notes if "left out" in one)
    assert note == "s3://runs/b: 1 files that hold no predictions left out."
    with pytest.raises(InputError, match=r"s3://runs/c: there is no such file"):
        tr.evaluate_files(bucket("c"))


@pytest.fixture
def google():
    """Run a server of Google's storage, and put files of predictions into it."""
    reason = "`make docs` brings gcp-storage-emulator"
    server_of = pytest.importorskip("gcp_storage_emulator.server", reason=reason).create_server
    server = server_of("127.0.0.1", 0, in_memory=True, default_bucket="runs")
    server.start()
    place = f"127.0.0.1:{server._api._httpd.server_address[1]}"  # noqa: SLF001
    for key in ("a/p.csv", "b/one.csv", "b/deep/two.csv", "b/_SUCCESS"):
        uri = f"http://{place}/upload/storage/v1/b/runs/o?uploadType=media&name={quote(key, '')}"
        urlopen(Request(uri, data=CSV.encode(), method="POST")).close()
    yield f"gs://anonymous@runs/{{}}?endpoint_override={place}&scheme=http&retry_limit_seconds=5"
    server.stop()


@pytest.mark.filterwarnings("ignore")
def test_files_and_folders_are_read_from_google(google):
    one = tr.evaluate_files(google.format("a/p.csv"))
    assert one["recall"].value == 0.5
    assert one.source["files"][0].path == "gs://runs/a/p.csv"
    folder = tr.evaluate_files(google.format("b"))
    assert [file.path for file in folder.source["files"]] == [
        "gs://runs/b/deep/two.csv",
        "gs://runs/b/one.csv",
    ]
    with pytest.raises(InputError, match=r"gs://runs/a/q\.csv: there is no such file"):
        tr.evaluate_files(google.format("a/q.csv"))


class Hub(BaseHTTPRequestHandler):
    """The part of a hub of Hugging Face that tells of a data set and gives its files."""

    repository = "/api/datasets/org/runs"
    files = ("a/p.csv", "b/one.csv", "b/deep/two.csv")

    def do_GET(self):
        parts = urlsplit(self.path)
        path = unquote(parts.path)
        if path.startswith(f"{self.repository}/tree/main"):
            folder = path.removeprefix(f"{self.repository}/tree/main").strip("/")
            everything = "recursive=true" in parts.query.lower()
            self.answer(json.dumps(list(self.entries(folder, everything=everything))).encode())
        elif path.startswith(self.repository):
            self.answer(json.dumps({"id": "org/runs", "sha": "0" * 40}).encode())
        elif path.removeprefix("/datasets/org/runs/resolve/main/") in self.files:
            self.answer(CSV.encode())
        else:
            self.send_error(404)

    do_HEAD = do_GET  # noqa: N815

    def entries(self, folder, *, everything):
        start = f"{folder}/" if folder else ""
        inside = [file.removeprefix(start) for file in self.files if file.startswith(start)]
        folders = {file.rpartition("/")[0] for file in inside} - {""}
        for name in sorted({*inside, *folders}):
            if everything or "/" not in name:
                kind = "file" if name in inside else "directory"
                yield {"type": kind, "path": start + name, "oid": "1" * 40, "size": len(CSV)}

    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", '"1"')
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_files_and_folders_are_read_from_a_hub_of_hugging_face(tmp_path):
    pytest.importorskip("huggingface_hub", reason="`make docs` brings huggingface_hub")
    script = (
        "import sys, truerisk as tr\n"
        "for key in ('a/p.csv', 'b'):\n"
        "    evaluation = tr.evaluate_files(f'hf://datasets/org/runs/{key}')\n"
        "    print(evaluation.n, *(file.path for file in evaluation.source['files']))\n"
        "try:\n"
        "    tr.evaluate_files('hf://datasets/org/runs/absent.csv')\n"
        "except tr.InputError as error:\n"
        "    print(error)\n"
    )
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        # The package reads its endpoint when it is imported.
        own = {"HF_ENDPOINT": f"http://127.0.0.1:{server.server_address[1]}"}
        own |= {"HF_HOME": str(tmp_path), "HF_HUB_DISABLE_TELEMETRY": "1"}
        ended = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, **own},
            capture_output=True,
            text=True,
            check=False,
        )
        server.shutdown()
    assert ended.stdout.splitlines() == [
        "4 hf://datasets/org/runs/a/p.csv",
        "8 hf://datasets/org/runs/b/deep/two.csv hf://datasets/org/runs/b/one.csv",
        "hf://datasets/org/runs/absent.csv: there is no such file.",
    ], ended.stderr


def test_a_folder_of_any_other_store_is_read_by_fsspec():
    memory = pytest.importorskip("fsspec").filesystem("memory")
    for key in ("b/one.csv", "b/deep/two.csv", "b/_SUCCESS"):
        memory.pipe(f"/{key}", CSV.encode())
    evaluation = tr.evaluate_files("memory://b")
    assert evaluation.n == 8
    assert [one.path for one in evaluation.source["files"]] == [
        "memory://b/deep/two.csv",
        "memory://b/one.csv",
    ]
    assert tr.evaluate_files("memory://b/one.csv").n == 4


def test_a_scheme_without_its_package_names_it():
    with pytest.raises(ResourceError, match="nowhere:// needs a package that reads it"):
        tr.evaluate_files("nowhere://x/p.csv")


def test_secrets_of_a_uri_are_not_shown():
    with pytest.raises(ResourceError) as caught:
        tr.evaluate_files("http://user:secret@127.0.0.1:1/p.csv?signature=secret")
    assert str(caught.value).startswith("http://127.0.0.1:1/p.csv: reading failed")
    assert "secret" not in str(caught.value)


def test_a_pattern_stands_for_the_files_that_match_it(tmp_path):
    for name in ("b-2.csv", "b-1.csv", "a.csv", "b-3.txt"):
        (tmp_path / name).write_text("y_true,y_pred\n1,1\n")
    (tmp_path / "b-4.csv").mkdir()
    files, notes = find_files(tmp_path / "b-*.csv", (".csv",))
    assert [path.name for path in files] == ["b-1.csv", "b-2.csv"]
    assert notes == ()
    with pytest.raises(InputError, match=r"c\*.csv: must match at least one file; there is none"):
        find_files(tmp_path / "c*.csv", (".csv",))


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path):
    path = tmp_path / "a[1].csv"
    path.write_text("y_true,y_pred\n1,1\n")
    assert find_files(path, (".csv",))[0] == (path,)


@pytest.mark.parametrize("size", [0, 1, HASHED_AT_ONCE, 2 * HASHED_AT_ONCE + 1])
def test_a_file_of_any_size_is_hashed_whole(tmp_path, size):
    path = tmp_path / "file"
    content = bytes(at % 251 for at in range(size))
    path.write_bytes(content)
    assert sha256_of(path) == hashlib.sha256(content).hexdigest()


def test_no_hash_is_given_of_a_part(tmp_path):
    path, stop = tmp_path / "file", Event()
    path.write_bytes(b"a")
    stop.set()
    assert sha256_of(path, stop) is None
