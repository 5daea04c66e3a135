from benchwright.app.exporting import LoadedRun as LoadedRun
from benchwright.app.exporting import RequestRow as RequestRow
from benchwright.app.exporting import TrialRow as TrialRow
from benchwright.app.exporting import load_run as load_run

__version__: str
