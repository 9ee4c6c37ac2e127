from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

import truerisk as tr
from truerisk.errors import InputError, ResourceError
from truerisk.inputs.records.places import shown_path, such_rows


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
