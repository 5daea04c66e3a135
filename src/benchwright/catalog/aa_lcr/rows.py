"""The row format of AA-LCR, and the conversion into samples."""

from __future__ import annotations

from collections.abc import Iterator

from benchwright.catalog.aa_lcr.documents import Documents
from benchwright.data.datasets import Source
from benchwright.records import Record, Sample


class AaLcrRow(Record, frozen=True):
    """One question.

    The names of its documents are separated by semicolons, in the order in which the prompt shows them.
    """

    document_category: str
    document_set_id: str
    question_id: str
    question: str
    answer: str
    data_source_filenames: str


def samples(source: Source) -> Iterator[Sample]:
    """Yield one sample per question, with the texts of its documents.

    Raises:
        DatasetError: If a document is missing.
    """
    documents = Documents(source)
    for row in source.read(AaLcrRow, "test"):
        names = [name.strip() for name in row.data_source_filenames.split(";") if name.strip()]
        texts = [documents.read_text(row.document_category, row.document_set_id, name) for name in names]
        content = {"question": row.question, "answer": row.answer, "documents": texts}
        labels = {"category": row.document_category, "set": row.document_set_id}
        identity = f"aa_lcr_{row.question_id}"
        yield Sample(identity, content, labels=labels, input=row.question, target=row.answer)
