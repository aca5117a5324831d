with

rules as (
    {{ declared_stopping_rules() }}
)

select * from rules
