-- the batch, as declare_batch or `spotter profile` found it
with

declared as (
    select unnest(getvariable('spotter_runs')) as run
),

runs as (
    select
        run.*,
        getvariable('spotter_pass_threshold') as pass_threshold,
        getvariable('spotter_answer_field') as answer_field,
        getvariable('spotter_slice_by') as slice_by,
        getvariable('spotter_batch_hash') as batch_hash
    from declared
)

select * from runs
