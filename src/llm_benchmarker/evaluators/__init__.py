"""Documented import path of the evaluators: functions that grade answers, one module for each kind."""
