"""Answers about PyTorch's scripts use its words: none of them is a setting or an operator of Paddle's."""

import re

import pytest

from gradtool.cli.main import main
from tests.sampling import sampled

from .answers import RUNS, names

PADDLE_ALONE = re.compile(
    r"stop_gradient|parameter_list|PyLayer|clear_grad\w*|retain_grads|no_grad_set|trainable|eager_tmp|generated_tensor"
    r"|paddle\b|LayerList|matmul_v2|elementwise_\w+|reduce_(sum|mean)|(reshape|transpose|squeeze|unsqueeze)2|expand_v2"
    r"|lookup_table_v2|take_along_axis|set_state_dict|set_value|\bassign\.\d|\bscale\.\d",
    re.IGNORECASE,
)
QUESTIONS = ((), ("why",), ("check",), ("nan",), ("stats",), ("stats", "--memory"), ("stats", "--time"))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", names())
def test_answers_about_a_script_of_torch_use_its_words(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for words in sampled(QUESTIONS, lambda words: f"{name} {words}", one_in=7):
        with pytest.raises(SystemExit):
            main([*words, str(RUNS / f"{name}.torchrun")])
        said = "".join(capsys.readouterr())
        assert said
        found = PADDLE_ALONE.search(said)
        assert found is None, (words, found, said)
