"""What tools return: conversion to parts, limits, truncation, artifacts."""
