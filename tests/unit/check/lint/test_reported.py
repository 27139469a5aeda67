"""What people reported about tools of the field, as far as these rules see it; ids are repository and number."""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.linting import lint_of

from evalspec.check.lint.patterns import flaws
from evalspec.prompts.chat import ChatTemplate, chat_template
from evalspec.prompts.view import PLAIN, View

HEADERS = View(chat=chat_template("headers"))
BOS = View(chat=ChatTemplate("bos", "<bos>{{ messages[-1].content }}"))
BASE = "task: t\ntest_split: test\ndoc_to_target: '{{a}}'\ngeneration_kwargs: {until: ['.']}\n"
CHOICE = "task: t\ntest_split: test\noutput_type: multiple_choice\ndoc_to_target: 0\ndoc_to_choice: [A, B]\n"


def rules(text: str, *, views: list[View] | None = None, **more: Any) -> set[str]:
    return {each.rule for each in lint_of({"t.yaml": text}, views=views or [PLAIN], **more)}


CASES = [
    (
        "UKGovernmentBEIS/inspect_ai#5353",
        "\ufefftask: t\n" + BASE,
        PLAIN,
        {"byte_order_mark", "duplicate_key"},
    ),
    (
        "huggingface/lighteval#830",
        BASE + 'doc_to_text: "Q: {{q}}"\ndescription: "Answer in one word."\n',
        PLAIN,
        {"glued_parts"},
    ),
    ("huggingface/open-r1#462", BASE + 'doc_to_text: "<bos><User>Solve {{q}}"\n', PLAIN, {"doubled_bos"}),
    (
        "huggingface/open-r1#462 under a template",
        BASE + 'doc_to_text: "<bos>Solve {{q}}"\n',
        BOS,
        {"doubled_bos"},
    ),
    (
        "allenai/open-instruct#62",
        CHOICE + 'doc_to_text: "{{q}}\\nAnswer:"\ntarget_delimiter: ""\n',
        PLAIN,
        {"no_space_at_join"},
    ),
    (
        "EleutherAI/lm-evaluation-harness#2346 before 0.4.6",
        CHOICE + 'doc_to_text: "{{q}}\\nB. 30"\ndescription: "D\\n"\ngen_prefix: "So:"\n',
        HEADERS,
        set(),
    ),
    (
        "EleutherAI/lm-evaluation-harness#508",
        CHOICE + 'doc_to_text: "{{q}}\\nAnswer: "\n',
        PLAIN,
        {"space_on_both_sides"},
    ),
    (
        "EleutherAI/lm-evaluation-harness#1361",
        BASE + 'doc_to_text: "Q: {{q}}"\ndescription: "Answer the question."\n',
        PLAIN,
        {"glued_parts"},
    ),
    (
        "EleutherAI/lm-evaluation-harness#3140",
        BASE
        + (
            'doc_to_text: "Q: {{q}}\\nA: Let\'s think step by step.\\n"\nnum_fewshot: 1\ntarget_delimiter: ""\n'
            "fewshot_config:\n"
            '  doc_to_target: a\n  samples: [{q: x, a: "Let\'s think step by step.\\nBam\\n"}]\n'
        ),
        PLAIN,
        {"repeated_phrase", "stop_in_prompt"},
    ),
    (
        "EleutherAI/lm-evaluation-harness#3508",
        CHOICE + 'doc_to_text: "{{q}}"\ngen_prefix: "Answer: "\n',
        PLAIN,
        {"space_on_both_sides"},
    ),
    (
        "EleutherAI/lm-evaluation-harness#1587",
        BASE + 'doc_to_text: "Human: {question}\\n\\nAssistant:"\n',
        PLAIN,
        {"single_braces"},
    ),
    (
        "lve-org/lve#28",
        BASE + 'doc_to_text: "{{q}}"\ndescription: "today\'s date: {todays_date}\\n"\n',
        PLAIN,
        {"single_braces"},
    ),
    (
        "promptfoo/promptfoo#92",
        BASE + 'doc_to_text: "{{q}} a &lt; b &amp; &quot;c&quot;"\n',
        PLAIN,
        {"html_entities"},
    ),
    (
        "EleutherAI/lm-evaluation-harness#2111",
        BASE + 'doc_to_text: "D: {{d}}\\nAnswer\uff1a"\n',
        PLAIN,
        {"confusable_character"},
    ),
    (
        "YongchengYAO/MedVision#19",
        "task: t\ntest_split: test\ndoc_to_text: q\ndoc_to_target: a\ngeneration_kwargs: {}\n",
        PLAIN,
        {"implicit_stop"},
    ),
    (
        "EleutherAI/lm-evaluation-harness#2983",
        "task: t\ngeneration_kwargs:\n  until: ['\\n']\n",
        PLAIN,
        {"literal_escape"},
    ),
    (
        "EleutherAI/lm-evaluation-harness#3102",
        BASE + "doc_to_text: 'Write a solution:\\n```python\\n{{ prompt }}\\n```\\n '\n",
        PLAIN,
        {"literal_escape", "space_on_both_sides"},
    ),
    (
        "instructlab/instructlab#813",
        CHOICE.replace("[A, B]", "[Yes, No]") + 'doc_to_text: "{{q}}:"\n',
        PLAIN,
        {"implicit_yaml_type"},
    ),
    (
        "EleutherAI/lm-evaluation-harness#3222",
        "group:\n  - lambada\n" + BASE + "doc_to_text: q\n",
        PLAIN,
        {"unknown_key"},
    ),
    (
        "EleutherAI/lm-evaluation-harness#3237",
        "group: code\n" + BASE + "doc_to_text: q\n",
        PLAIN,
        {"unknown_key"},
    ),
    (
        "EleutherAI/lm-evaluation-harness#635",
        "task: t\ndelimiter: ' '\nreference: x\ngeneration_kwargs: {until: []}\n",
        PLAIN,
        {"unknown_key"},
    ),
    ("METR/inspect-action#72", BASE + "doc_to_text: q\nepocs: 3\n", PLAIN, {"unknown_key"}),
    (
        "EleutherAI/lm-evaluation-harness#2196",
        BASE
        + (
            'doc_to_text: "Q: {{q}}"\nfewshot_config:\n  sampler: first_n\n  doc_to_text: "Q: {{q}} A: {{a}}"\n'
            '  doc_to_target: ""\n'
        ),
        PLAIN,
        {"empty_shot_target"},
    ),
]


@pytest.mark.parametrize(("report", "text", "view", "expected"), CASES, ids=[case[0] for case in CASES])
def test_a_report(report: str, text: str, view: View, expected: set[str]) -> None:
    assert report
    assert rules(text, views=[view]) - {"fewshot_pool_fallback"} == expected


def test_a_misspelt_column_is_named_where_rows_are_at_hand() -> None:
    """EleutherAI/lm-evaluation-harness#3567."""
    text = BASE + "doc_to_text: \"what category does the text: '{{headline_text}}' belong to?\"\n"
    found = lint_of({"t.yaml": text}, rows=[{"headline": "x", "category": "health", "a": "b"}])
    told = next(each for each in found if each.rule == "undefined_variable")
    assert (told.line, told.column, told.fix) == (5, 14, "did you mean 'headline'?")


def test_a_pool_that_falls_back_on_the_test_split_leaks() -> None:
    """EleutherAI/lm-evaluation-harness#4145: the row that is asked about is shown with its answer."""
    rows = [{"q": f"Q{n}", "a": f"A{n}"} for n in range(3)]
    found = lint_of({"t.yaml": BASE + 'doc_to_text: "{{q}}"\nnum_fewshot: 2\n'}, rows=rows)
    leak = next(each for each in found if each.rule == "fewshot_leak")
    assert (leak.severity, leak.line, leak.column) == ("error", 2, 13)
    assert "is not left out" in leak.message


def test_a_leak_is_seen_in_the_text_not_in_equal_rows() -> None:
    """sbintuitions/flexeval#293: the row in the pool has one more column."""
    text = BASE + 'doc_to_text: "{{q}}"\nfewshot_split: dev\nnum_fewshot: 1\n'
    found = lint_of({"t.yaml": text}, rows=[{"q": "Q0", "a": "x"}], pool=[{"q": "Q0", "a": "x", "c": [1]}])
    assert [each.severity for each in found if each.rule == "fewshot_leak"] == ["error"]


def test_an_answer_that_reads_as_a_list_becomes_one() -> None:
    """EleutherAI/lm-evaluation-harness#3170 and #2895."""
    text = BASE + "doc_to_text: '{{q}}'\n"
    assert "target_type_changes" in rules(text, rows=[{"q": "x", "a": "[1, 2, 3]"}])
    assert "target_type_changes" in rules(text, rows=[{"q": "x", "a": ["a", "b"]}])
    assert "target_type_changes" not in rules(text, rows=[{"q": "x", "a": "1, 2"}])


def test_a_stop_string_in_the_question_of_a_chat() -> None:
    """NVIDIA/TensorRT-LLM#18751."""
    text = (
        "task: t\ntest_split: test\ndoc_to_text: 'Question: {{q}}'\ndoc_to_target: a\n"
        "generation_kwargs: {until: ['Question:', '</s>']}\nnum_fewshot: 0\n"
    )
    assert rules(text, views=[HEADERS]) == {"stop_in_prompt"}
    assert rules(text) == set()


@pytest.mark.parametrize(
    ("report", "pattern", "expected"),
    [
        ("EleutherAI/lm-evaluation-harness#4207", "x(foo)?(bar)?", ["pattern_matches_empty"]),
        ("a group that is only looked for", "(?=(woman|man))", []),
        ("stanford-crfm/helm#4337", r"-?[\d,]+(?:.\d+)?", ["unescaped_dot"]),
        ("openai/simple-evals#33", r"(?i)Antwort\s*:[ \t]*([A-D])", []),
        (
            "EleutherAI/lm-evaluation-harness#2238, as it reads in double quotes",
            r"answer is \(?([A-J])\)?",
            [],
        ),
        (
            "EleutherAI/lm-evaluation-harness#2238, in single quotes",
            r"answer is \\(?([A-J])\\)?",
            ["extracts_nothing"],
        ),
    ],
)
def test_a_pattern(report: str, pattern: str, expected: list[str]) -> None:
    assert report
    assert [flaw.rule.id for flaw in flaws(pattern)] == expected


def test_a_name_that_comes_from_an_include() -> None:
    """unslothai/unsloth#6824: the rules read what a file is with its includes."""
    files = {
        "a.yaml": "include: base\n",
        "base": json.dumps({"task": "foo", "doc_to_text": "Q\\n", "test_split": "x"}),
    }
    assert {each.rule for each in lint_of(files)} >= {"literal_escape", "implicit_stop"}
