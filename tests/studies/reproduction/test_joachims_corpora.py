import json

import pytest

from studies.reproduction.joachims_corpora import OHSUMED, REUTERS, WEBKB
from truerisk.errors import InputError


def test_a_missing_file_is_named_with_the_form_it_must_have(tmp_path):
    with pytest.raises(InputError) as refused:
        REUTERS.read(tmp_path)
    message = str(refused.value)
    assert "reuters21578_modapte.jsonl.gz" in message
    assert tmp_path.name in message
    assert (
        "JSON lines, one document per line, with the keys id, labels (a list) and text" in message
    )


@pytest.mark.parametrize("folder", ["", "text"])
@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz"])
def test_the_file_is_found_plain_or_compressed_here_or_in_the_folder_text(
    tmp_path, folder, ending, write_collection
):
    path = write_collection("ohsumed_single23", list(OHSUMED.labels.values()), 40, ending=ending)
    (tmp_path / folder).mkdir(exist_ok=True)
    moved = path.rename(tmp_path / folder / path.name)
    assert OHSUMED.find(tmp_path) == moved
    documents = OHSUMED.read(tmp_path)
    assert len(documents) == 40
    assert documents.categories[:2] == ("Pathology", "Cardiovascular")


def test_members_are_those_with_the_label(tmp_path):
    labels = [["C23", "C14"], ["C04"], [], ["C10", "C20"]]
    lines = [
        json.dumps({"id": str(n), "labels": own, "text": "a b"}) for n, own in enumerate(labels)
    ]
    (tmp_path / "ohsumed_single23.jsonl").write_text("\n".join(lines) + "\n")
    documents = OHSUMED.read(tmp_path)
    assert documents.member.astype(int).tolist() == [
        [1, 1, 0, 0, 0],
        [0, 0, 1, 0, 0],
        [0, 0, 0, 0, 0],
        [0, 0, 0, 1, 1],
    ]
    some = OHSUMED.read(tmp_path, ("Neoplasm",))
    assert some.member.tolist() == [[False], [True], [False], [False]]


def test_pages_that_only_lead_elsewhere_are_dropped(tmp_path, write_collection):
    write_collection("webkb4", list(WEBKB.labels), 40, more=lambda n: {"relocation": n % 4 == 0})
    documents = WEBKB.read(tmp_path)
    assert len(documents) == 30


def test_a_category_that_no_document_has_is_refused(tmp_path, write_collection):
    write_collection("reuters21578_modapte", ["earn", "acq"], 40)
    with pytest.raises(InputError, match="must have documents with the label 'money-fx'"):
        REUTERS.read(tmp_path)


def test_vectors_in_place_of_texts_are_refused(tmp_path):
    (tmp_path / "reuters21578_modapte.jsonl").write_text("1 1:0.5 2:1\n-1 1:0.25\n")
    with pytest.raises(InputError, match=r"reuters21578_modapte\.jsonl"):
        REUTERS.read(tmp_path)


def test_another_number_of_documents_than_the_papers_is_told():
    assert REUTERS.remarks(12_902) == ()
    assert REUTERS.remarks(300) == ("The paper has 12,902 documents; here are 300.",)
    assert "NOT COMPARABLE" in OHSUMED.remarks(7_400)[1]
