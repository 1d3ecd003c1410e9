"""Folds: what a history says about injections, steps, alarms, recoveries, nodes and coverage. Pure and linear in its length."""
