# A batch runs when the digest of its points' keys changes, and for no other reason; the journals know which launches are missing.
rule sweep:
    input:
        batches=ancient(str(places.batches)),
        build=ancient(str(wiring.build)),
    output:
        receipt=str(places.receipt("{batch}")),
    log:
        f"results/logs/sweep/{wiring.campaign_name}-{wiring.platform_name}-{{batch}}.log",
    conda:
        "../../envs/default.yaml"
    resources:
        machine=100,
        nodes=lambda wildcards: wiring.batch(checkpoints, wildcards.batch).nodes,
        tasks=lambda wildcards: wiring.batch(checkpoints, wildcards.batch).ranks,
        runtime=lambda wildcards: wiring.batch(checkpoints, wildcards.batch).minutes,
    params:
        campaign=wiring.campaign_name,
        platform=wiring.platform_name,
        digest=lambda wildcards: wiring.batch(checkpoints, wildcards.batch).digest,
    shell:
        "python -m collpress --log {log:q} sweep {params.campaign:q} --platform {params.platform:q} --batch {wildcards.batch:q}"
