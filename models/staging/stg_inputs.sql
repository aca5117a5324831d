with

inputs as (
    {{ staged_inputs() }}
)

select * from inputs
