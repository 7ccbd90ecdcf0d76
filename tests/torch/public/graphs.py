"""Models of torch_geometric, and flows, equations and tables of other packages."""

from __future__ import annotations

from collections.abc import Iterator

from .scripts import SCORED, PublicModel, write_script

GRAPHS = {
    **dict.fromkeys(("GCN", "GraphSAGE", "GAT", "GIN", "EdgeCNN"), "8, 16, num_layers=2, out_channels=3"),
    "PNA": (
        "8, 16, num_layers=2, out_channels=3, aggregators=['mean', 'max'], scalers=['identity'], "
        "deg=torch.ones(8).long()"
    ),
    "GraphUNet": "8, 16, 3, depth=2",
}

LAYERS = {
    "TransformerConv": "8, 3, heads=2, concat=False",
    "ChebConv": "8, 3, K=3",
    "TAGConv": "8, 3",
    "SGConv": "8, 3, K=2",
    "APPNP": "K=3, alpha=0.1",
    "ARMAConv": "8, 3, num_stacks=2, num_layers=2",
    "GATv2Conv": "8, 3, heads=2, concat=False",
    "GatedGraphConv": "8, num_layers=2",
    "GENConv": "8, 3",
    "FAConv": "8",
    "SuperGATConv": "8, 3, heads=2, concat=False",
    "ResGatedGraphConv": "8, 3",
}


def models_of_graphs() -> Iterator[PublicModel]:
    data = """x, y = torch.randn(12, 8), torch.randint(0, 3, (12,))
        edges = torch.randint(0, 12, (2, 40))"""
    for name, arguments in GRAPHS.items():
        setup = f"net = {name}({arguments})\n{data}"
        yield write_script(
            f"torch_geometric.{name}",
            f"from torch_geometric.nn import {name}",
            setup,
            "F.cross_entropy(net(x, edges), y)",
        )
    for name, arguments in LAYERS.items():
        called = "x, x, edges" if name == "FAConv" else "x, edges"
        setup = f"""layer, head = {name}({arguments}), nn.LazyLinear(3)
            net = nn.ModuleList([layer, head])
            {data}"""
        yield write_script(
            f"torch_geometric.{name}",
            f"from torch_geometric.nn import {name}",
            setup,
            f"F.cross_entropy(head(layer({called})), y)",
        )
    setup = """net = VGAE(GCNs())
        x, edges = torch.randn(12, 8), torch.randint(0, 12, (2, 40))
        loss_of = lambda z: net.recon_loss(z, edges) + net.kl_loss() / 12"""
    body = """class GCNs(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean, self.std = GCNConv(8, 4), GCNConv(8, 4)
    def forward(self, x, edges):
        return self.mean(x, edges), self.std(x, edges)
"""
    made = write_script(
        "torch_geometric.VGAE", "from torch_geometric.nn import VGAE, GCNConv", setup, "loss_of(net.encode(x, edges))"
    )
    yield PublicModel(made.name, made.modules, made.text.replace("torch.manual_seed(0)", body + "torch.manual_seed(0)"))


def other_models() -> Iterator[PublicModel]:
    for name in ("NSF", "MAF", "NICE", "NAF"):
        setup = f"""net = zuko.flows.{name}(3, transforms=2, hidden_features=(16, 16))
            x = torch.randn(16, 3)"""
        yield write_script(f"zuko.{name}", "import zuko", setup, "-net().log_prob(x).mean()")
    setup = """net = Mamba(MambaConfig(d_model=16, n_layers=2, d_state=4))
        x, y = torch.randn(2, 12, 16), torch.randn(2, 12, 16)"""
    yield write_script("mambapy.Mamba", "from mambapy.mamba import Mamba, MambaConfig", setup, "F.mse_loss(net(x), y)")
    setup = """field = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
        net = field
        x, t, y = torch.randn(8, 2), torch.linspace(0, 1, 4), torch.randn(4, 8, 2)"""
    for name in ("odeint", "odeint_adjoint"):
        yield write_script(
            f"torchdiffeq.{name}",
            f"from torchdiffeq import {name}",
            setup if name == "odeint" else setup.replace("net = field", "net = Field(field)"),
            f"F.mse_loss({name}({'lambda t, x: net(x)' if name == 'odeint' else 'net'}, x, t, method='rk4'), y)",
        )
    setup = """tagger, crf = nn.Linear(8, 5), CRF(5, batch_first=True)
        net = nn.ModuleList([tagger, crf])
        x, y = torch.randn(2, 7, 8), torch.randint(0, 5, (2, 7))"""
    yield write_script("torchcrf.CRF", "from torchcrf import CRF", setup, "-crf(tagger(x), y)")
    setup = """net = FTTransformer(n_cont_features=3, cat_cardinalities=[4], d_out=1, n_blocks=2, d_block=16,
        attention_n_heads=2, attention_dropout=0.1, ffn_d_hidden_multiplier=2, ffn_dropout=0.1, residual_dropout=0.0)
        x, c, y = torch.randn(8, 3), torch.randint(0, 4, (8, 1)), torch.randn(8, 1)"""
    yield write_script(
        "rtdl_revisiting_models.FTTransformer",
        "from rtdl_revisiting_models import FTTransformer",
        setup,
        "F.mse_loss(net(x, c), y)",
    )
    setup = """net = EfficientNet.from_name('efficientnet-b0', num_classes=10)
        x, y = torch.randn(2, 3, 64, 64), torch.randint(0, 10, (2,))"""
    yield write_script(
        "efficientnet_pytorch.EfficientNet", "from efficientnet_pytorch import EfficientNet", setup, SCORED
    )
    setup = """net = NormalizingFlow(DiagGaussian(2), [AffineCouplingBlock(MLP([1, 16, 2], init_zeros=True)),
        Permute(2, mode='swap'), AffineCouplingBlock(MLP([1, 16, 2], init_zeros=True))])
        x = torch.randn(16, 2)"""
    imports = "from normflows import NormalizingFlow; from normflows.distributions import DiagGaussian; "
    imports += "from normflows.flows import AffineCouplingBlock, Permute; from normflows.nets import MLP"
    yield write_script("normflows.NormalizingFlow", imports, setup, "net.forward_kld(x)")
