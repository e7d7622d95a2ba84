# `update`: where the compiler fails, the record of the previous build stays, for that build is whole.
rule native:
    input:
        wiring.native_sources(),
        wiring.platform_path,
    output:
        update("results/native/{platform}/build.json"),
    log:
        "results/logs/native/{platform}.log",
    conda:
        "../../envs/default.yaml"
    params:
        toolchain=wiring.toolchain(),
    shell:
        "python -m collpress --log {log:q} build --platform {wildcards.platform:q}"


# The plugins that the campaign itself brings; an empty list when it names no directory.
rule plugins:
    input:
        wiring.plugin_sources(),
        wiring.native_headers(),
        wiring.campaign_path,
        build=str(wiring.build),
    output:
        str(places.plugins),
    log:
        f"results/logs/plugins/{wiring.campaign_name}-{wiring.platform_name}.log",
    conda:
        "../../envs/default.yaml"
    params:
        platform=wiring.platform_name,
        toolchain=wiring.toolchain(),
        python=wiring.python_of_metrics(),
        directories=wiring.plugin_arguments(),
        out=lambda wildcards, output: os.path.dirname(output[0]),
    shell:
        "python -m collpress --log {log:q} build --platform {params.platform:q} --out {params.out:q} {params.directories}"
