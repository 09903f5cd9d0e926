"""The stages of a training, each in a file of its own; `pipeline.plan` puts them in a row."""
