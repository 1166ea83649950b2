# Made by tools/update_stubs.py.

from proctor.formats.chat import ChatAPIFormat as ChatAPIFormat
from proctor.formats.format import Demo as Demo, EmptySystemPrompt as EmptySystemPrompt, Format as Format, Parts as Parts, SystemPrompt as SystemPrompt, TextualSystemPrompt as TextualSystemPrompt
from proctor.formats.meta_template import MetaTemplate as MetaTemplate
from proctor.formats.newline import apply_newline_notation as apply_newline_notation
from proctor.formats.system import SystemFormat as SystemFormat
from proctor.formats.tokenizer import GraniteDocumentsFormat as GraniteDocumentsFormat, HFSystemFormat as HFSystemFormat
