"""llama.cpp's server with a model of random weights, for the tests of the stage `answer`.

`llama_server.py FOLDER` writes FOLDER/model.gguf (a llama of two layers whose tokens are bytes; the seed is fixed), starts the
server of the package xllamacpp, which is llama.cpp's own, at a free port of 127.0.0.1, and prints `ready URL`. The server's log, with
a line for each request, goes to standard error. It ends when standard input ends.
"""

import sys
from pathlib import Path

import gguf
import numpy
import xllamacpp

WIDTH, HIDDEN, HEADS, LAYERS, CONTEXT = 32, 64, 2, 2, 8192
TEMPLATE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"


def write_model(path: Path) -> None:
    """Writes the model: weights of the standard deviation 0.2, and a vocabulary of <unk>, <s>, </s> and the 256 bytes."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_block_count(LAYERS)
    writer.add_head_count(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_tokenizer_model("llama")
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    kind = gguf.TokenType
    writer.add_token_types([kind.UNKNOWN, kind.CONTROL, kind.CONTROL, *[kind.BYTE] * 256])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_chat_template(TEMPLATE)

    random = numpy.random.default_rng(25)

    def add(name: str, *shape: int) -> None:
        writer.add_tensor(f"{name}.weight", random.normal(0, 0.2, shape).astype(numpy.float32))

    def add_norm(name: str) -> None:
        writer.add_tensor(f"{name}.weight", numpy.ones(WIDTH, numpy.float32))

    add("token_embd", len(tokens), WIDTH)
    for layer in range(LAYERS):
        add_norm(f"blk.{layer}.attn_norm")
        for matrix in ("attn_q", "attn_k", "attn_v", "attn_output"):
            add(f"blk.{layer}.{matrix}", WIDTH, WIDTH)
        add_norm(f"blk.{layer}.ffn_norm")
        add(f"blk.{layer}.ffn_gate", HIDDEN, WIDTH)
        add(f"blk.{layer}.ffn_up", HIDDEN, WIDTH)
        add(f"blk.{layer}.ffn_down", WIDTH, HIDDEN)
    add_norm("output_norm")
    add("output", len(tokens), WIDTH)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    model = Path(sys.argv[1]) / "model.gguf"
    write_model(model)
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model)
    parameters.model_alias = {"random"}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.n_ctx = CONTEXT
    parameters.n_parallel = 2
    parameters.warmup = False
    parameters.cpuparams.n_threads = 1
    server = xllamacpp.Server(parameters)
    print("ready", server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
