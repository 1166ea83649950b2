# Made by tools/update_stubs.py.

from proctor.engines.conversation import converse as converse
from proctor.engines.engine import Engine as Engine
from proctor.engines.engine_registry import make_engine as make_engine
from proctor.engines.inference import TextGenerationInferenceOutput as TextGenerationInferenceOutput
from proctor.engines.llamacpp import LlamaCppEngine as LlamaCppEngine
from proctor.engines.model_args import parse_model_args as parse_model_args
from proctor.engines.hf.hf_engine import HFEngine as HFEngine
from proctor.engines.hf.openvino import OpenVINOEngine as OpenVINOEngine
from proctor.engines.hf.smollm2 import SmolLM2Engine as SmolLM2Engine
from proctor.engines.http.openai_engine import OpenAIEngine as OpenAIEngine
from proctor.engines.http.provider_engine import ProviderEngine as ProviderEngine
from proctor.engines.vllm.vllm_engine import VLLMEngine as VLLMEngine
from proctor.engines.replay import ReplayEngine as ReplayEngine
from proctor.engines.scripted import ScriptedEngine as ScriptedEngine
