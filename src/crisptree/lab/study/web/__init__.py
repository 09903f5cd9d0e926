"""The web questionnaire."""

from crisptree.lab.study.web.app import create_app as create_app
