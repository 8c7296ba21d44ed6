"""The outputs of tools: conversion of return values, limits, truncation, artifacts."""
