localrules:
    cards,


rule cards:
    input:
        wiring.cards(),


# The values are as the sidecar says, by their sha256: a sidecar that says the same asks for no other card.
rule card:
    input:
        wiring.card_sources(),
        sidecar="results/data/{dataset}.json",
        values=ancient("results/data/{dataset}.bin"),
    output:
        numbers=report(
            "results/cards/{dataset}.json",
            caption="../report/card.rst",
            category="Datasets",
            labels=wiring.card_labels("numbers, as JSON"),
        ),
        page=report(
            "results/cards/{dataset}.svg",
            caption="../report/card.rst",
            category="Datasets",
            labels=wiring.card_labels("page"),
        ),
        others=multiext("results/cards/{dataset}", ".pdf", ".png"),
    log:
        "results/logs/cards/{dataset}.log",
    conda:
        "../../envs/default.yaml"
    shell:
        "python -m collpress --log {log:q} card {wildcards.dataset:q}"
