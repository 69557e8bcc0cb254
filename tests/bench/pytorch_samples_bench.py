# SPDX-License-Identifier: MIT
"""What samples of the stack cost: on and off in pairs of blocks inside one process, in random order.

headway record -o samples.sqlite -- python3 tests/bench/pytorch_samples_bench.py python|ops PAIRS
"""
import math
import random
import statistics
import sys
import time

import _headway_nvtx as n
import headway_pytorch.core as core
import headway_pytorch.sampling as s
import torch

kind=sys.argv[1]
m=torch.nn.Sequential(torch.nn.Linear(64,64),torch.nn.ReLU(),torch.nn.Linear(64,64)); o=torch.optim.SGD(m.parameters(),lr=0.01)
x=torch.randn(32,64)
def env():
    a=0.0
    for i in range(60000): a+=math.sin(i)
    return a
def host():
    for _ in range(120): torch.stack([x[0],x[1]]).sum().item()
def step():
    env() if kind=='python' else host()
    l=torch.nn.functional.mse_loss(m(x),x); o.zero_grad(); l.backward(); o.step()
for _ in range(20): step()
r=random.Random(1); blocks=[]
order=[x for _ in range(int(sys.argv[2])) for x in r.sample([True,False],2)]
for on in order:
    n.stop_sampling(); time.sleep(0.006)
    if on: n.sample(s._folders(), True, core.failed("samples"))
    step()
    t=time.perf_counter(); c=time.thread_time()
    for _ in range(8): step()
    blocks.append((on,(time.perf_counter()-t)/8*1e3,(time.thread_time()-c)/8*1e3))

for k in (1,2):
    d=[]
    for i in range(0,len(blocks),2):
        p=dict((b[0],b[k]) for b in blocks[i:i+2]); d.append(p[True]/p[False]-1)
    boot=sorted(statistics.median(r.choices(d,k=len(d))) for _ in range(2000))
    print(kind,('wall','cpu')[k-1],'%.3f ms a step, pairs: %+.2f %% (95 %%: %+.2f to %+.2f)'%(statistics.median(b[k] for b in blocks),100*statistics.median(d),100*boot[50],100*boot[1949]))
