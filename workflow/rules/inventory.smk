# The one checkpoint: hashes of all that could change a value, the algorithms that this installation offers, and the frozen plan.
checkpoint inventory:
    input:
        wiring.datasets(),
        wiring.campaign_path,
        wiring.platform_path,
        build=str(wiring.build),
        plugins=str(places.plugins),
    output:
        str(places.inventory),
        str(places.points),
        batches=str(places.batches),
    log:
        f"results/logs/inventory/{wiring.campaign_name}-{wiring.platform_name}.log",
    conda:
        "../../envs/default.yaml"
    params:
        campaign=wiring.campaign_name,
        platform=wiring.platform_name,
        machine=wiring.machine(),
        without=wiring.without_arguments(),
    shell:
        "python -m collpress --log {log:q} inventory {params.campaign:q} --platform {params.platform:q} {params.without}"
