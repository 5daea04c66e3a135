from benchwright.analysis.export import LoadedRun as LoadedRun
from benchwright.analysis.export import RequestRow as RequestRow
from benchwright.analysis.export import TrialRow as TrialRow
from benchwright.analysis.export import load_run as load_run

__version__: str
