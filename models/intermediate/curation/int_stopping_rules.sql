-- depends_on: {{ ref('int_rollouts_keyed') }}
-- so that dbt builds it after the batch is staged, which drops the intermediate models
with

rules as (
    {{ declared_stopping_rules() }}
)

select * from rules
