"""The quick look at a configuration and the one that explains come to the same verdict."""

from __future__ import annotations

import tomllib

import pytest

from evalspec.configuration import Config
from evalspec.schema.declare import Shape
from evalspec.schema.explain import explain_fields
from evalspec.schema.fields import fields_of
from evalspec.schema.struct import accepts_fields

SOUND = [
    "",
    'spec = "lm-eval@0.4.13"\nrequires = "v3"\ntasks = ["a", "b"]\nlock_prompts = true\nbaseline = "old"\n',
    'version_policy = "integer"\n[views.chat]\nchat = "chatml"\nshots = 2\nlimit = 0.5\n',
    '[version_policy]\nacme = "suffix"\n[severity]\nhtml_entities = "info"\n',
    '[[ignores]]\nrule = "a"\nreason = "b"\nuntil = "2030-01-01"\n[[overrides]]\npaths = ["x"]\nignore = ["lint"]\n',
    "[views.all]\nlimit = 5\n",
]
UNSOUND = [
    'specs = "evalspec"\n',
    'spec = "two words"\n',
    "tasks = 'a'\n",
    "tasks = [1]\n",
    "lock_prompts = 1\n",
    "version_policy = 3\n",
    "[views.chat]\nshots = true\n",
    "[views.chat]\nshot = 2\n",
    '[severity]\nhtml_entities = "bad"\n',
    '[[ignores]]\nrule = "a"\nreason = " "\n',
    '[[ignores]]\nrule = "a"\n',
    '[[ignores]]\nrule = "a"\nreason = "b"\nuntil = "2030-13-01"\n',
    '[[ignores]]\nrule = "a"\nreason = "b"\nuntil = 2030-01-01\n',
    "[[overrides]]\npaths = []\n",
]


@pytest.mark.parametrize(
    ("text", "sound"), [*((text, True) for text in SOUND), *((text, False) for text in UNSOUND)]
)
def test_both_looks_at_a_configuration_agree(text: str, sound: bool) -> None:
    data = tomllib.loads(text)
    fields = fields_of(Config)
    told = list(explain_fields("the configuration", Shape("configuration", Config), fields, data))
    assert (not told, accepts_fields("Config", fields, data)) == (sound, sound), told
