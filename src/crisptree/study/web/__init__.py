"""The web questionnaire."""

from crisptree.study.web.app import create_app as create_app
