# Made by tools/update_stubs.py.

from proctor.scoring.judges.criteria import CreateCriteriaFromString as CreateCriteriaFromString, CreateYesNoCriteriaFromString as CreateYesNoCriteriaFromString, Criteria as Criteria, CriteriaOption as CriteriaOption, CriteriaWithOptions as CriteriaWithOptions
from proctor.scoring.judges.direct import LLMJudgeDirect as LLMJudgeDirect
from proctor.scoring.judges.from_template import LLMAsJudge as LLMAsJudge
from proctor.scoring.judges.judge_agreement import agreement as agreement
from proctor.scoring.judges.judgements import judgements_of as judgements_of
from proctor.scoring.judges.llama_index import LlamaIndexCorrectness as LlamaIndexCorrectness, LlamaIndexFaithfulness as LlamaIndexFaithfulness
from proctor.scoring.judges.pairwise import LLMJudgePairwise as LLMJudgePairwise
