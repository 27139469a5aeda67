"""Where each part of a prompt comes from, written down as data (prompting.md, "Prompt assembly").

A schema version names a source for every part: a fixed text, or a field of the record with its default. What
joins the parts is the same for every version and lives in `evalspec.prompts`; two versions whose assemblies
name the same sources for the same record give the same bytes.
"""

from __future__ import annotations

from typing import NamedTuple


class Constant(NamedTuple):
    """A part whose text the version itself fixes."""

    text: str


class FromField(NamedTuple):
    """A part that is read from a field, with the text it has where the record leaves the field out."""

    name: str
    default: str = ""


Source = Constant | FromField


class Assembly(NamedTuple):
    """The sources of a prompt's parts. Fields are dotted paths into the record.

    Attributes:
        question: the field with the task's own question.
        examples: the field with the list of worked examples, in the order in which they are shown.
        example_question: the key of an example's question.
        example_answer: the key of an example's answer.
        system: what stands before everything else; a chat's system message.
        target_delimiter: between a question and its answer.
        fewshot_delimiter: between examples.
        gen_prefix: the text an answer begins with; the empty text is none.
        output_type: the field that says what is asked of the model, or the one thing that ever is.
        choices: the field with the texts to choose from, if the version has any.
        targets: the field with the accepted answers.
        stop: the field with the stop strings, if the version has any.
        generation: the field with the generation settings, if the version has any.
        template: the field whose presence makes a task a template over a data set, if the version has any;
            the rest of such a task's prompt is read from its `doc_to_*` fields.
    """

    question: str
    examples: str
    example_question: str = "prompt"
    example_answer: str = "completion"
    system: Source = Constant("")
    target_delimiter: Source = Constant(" ")
    fewshot_delimiter: Source = Constant("\n\n")
    gen_prefix: Source = Constant("")
    output_type: Source = Constant("generate_until")
    choices: str | None = None
    targets: str = "targets"
    stop: str | None = None
    generation: str | None = None
    template: str | None = None

    def reads(self) -> frozenset[str]:
        """The dotted fields that decide the text of an inline task's prompt."""
        sources = (self.system, self.target_delimiter, self.fewshot_delimiter, self.gen_prefix)
        return frozenset(
            [
                self.question,
                self.examples,
                *(source.name for source in sources if isinstance(source, FromField)),
            ]
        )
