"""Tells judgements: certificate, JSON, JUnit, Allure; computes no new facts."""
